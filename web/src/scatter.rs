//! Scatters, and the gradients of gathers. Of a call, `paramsShape` is the shape of the destination.

use js_sys::Promise;
use serde::Deserialize;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;
use wgpu_gather::{DType, Layout, Params, Reduce, ScatterLayouts, ScatterPlan};

use crate::call::{Call, named};
use crate::device::RawTensor;
use crate::engine::{RawEngine, host_tensor};
use crate::failure::{failure, not_a_call};

/// What a scatter has beside a gather, as `index.js` describes it in JSON.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Updates {
    reduce: String,
    dtype: String,
    shape: Vec<usize>,
}

impl Updates {
    /// Reads them, of a call with `call`'s destination.
    fn read(json: &str, call: &Call) -> Result<Updates, JsValue> {
        let updates: Updates =
            serde_json::from_str(json).map_err(|error| not_a_call(&error.to_string()))?;
        match updates.dtype == call.dtype {
            true => Ok(updates),
            false => Err(not_a_call(&format!(
                "updates of {} for a tensor of {}",
                updates.dtype, call.dtype
            ))),
        }
    }

    fn reduce(&self) -> Result<Reduce, JsValue> {
        named(&self.reduce)
    }

    fn params<'a>(&self, bytes: &'a [u8]) -> Result<Params<'a>, JsValue> {
        let (dtype, layout) = (
            named::<DType>(&self.dtype)?,
            Layout::contiguous(&self.shape),
        );
        Params::new(bytes, dtype, layout).map_err(|e| failure(&e))
    }
}

#[wasm_bindgen]
impl RawEngine {
    /// How a scatter is executed, in words.
    #[wasm_bindgen(js_name = explainScatter)]
    pub fn explain_scatter(&self, call: &str, reduce: &str) -> Result<String, JsValue> {
        let call = Call::read(call)?;
        let (op, rules) = (call.transposed_op()?, call.rules()?);
        // Where the call has no shape for updates, the plan says why, in the scatter's name.
        let updates = op.output_shape(&call.params_shape, &call.indices_shape, &rules);
        let layouts = ScatterLayouts {
            dtype: call.dtype()?,
            destination: &Layout::contiguous(&call.params_shape),
            index_type: call.index_type()?,
            indices: &Layout::contiguous(&call.indices_shape),
            updates: &Layout::contiguous(&updates.unwrap_or_default()),
        };
        let plan = ScatterPlan::new(op, named(reduce)?, &rules, layouts);
        Ok(plan.map_err(|e| failure(&e))?.explain().to_string())
    }

    /// Scatters from host to host, over a copy of `base`.
    pub fn scatter(
        &self,
        call: &str,
        updates: &str,
        base: Vec<u8>,
        indices: Vec<u8>,
        values: Vec<u8>,
    ) -> Promise {
        let (read, executor) = (read(call, updates), self.executor().clone());
        future_to_promise(async move {
            let (call, updates) = read?;
            let (op, reduce) = (call.transposed_op()?, updates.reduce()?);
            let (rules, base) = (call.rules()?, call.params(&base)?);
            let (indices, values) = (call.indices(&indices)?, updates.params(&values)?);
            let made = executor.scatter(op, reduce, &rules, &base, &indices, &values);
            host_tensor(made.await)
        })
    }

    /// The gradient of a gather from host to host.
    #[wasm_bindgen(js_name = gatherGradient)]
    pub fn gather_gradient(
        &self,
        call: &str,
        updates: &str,
        indices: Vec<u8>,
        values: Vec<u8>,
    ) -> Promise {
        let (read, executor) = (read(call, updates), self.executor().clone());
        future_to_promise(async move {
            let (call, updates) = read?;
            let (op, rules, shape) = (call.op()?, call.rules()?, &call.params_shape);
            let (indices, values) = (call.indices(&indices)?, updates.params(&values)?);
            let made = executor.gather_gradient(op, &rules, shape, &indices, &values);
            host_tensor(made.await)
        })
    }

    /// Scatters on the device, over a copy of `base`. Resolves once the device has accepted the work.
    #[wasm_bindgen(js_name = scatterOnDevice)]
    pub fn scatter_on_device(
        &self,
        call: &str,
        updates: &str,
        base: &RawTensor,
        indices: &RawTensor,
        values: &RawTensor,
    ) -> Promise {
        let (read, engine) = (read(call, updates), self.device_engine());
        let (base, indices, values) = (base.shared(), indices.shared(), values.shared());
        future_to_promise(async move {
            let ((call, updates), engine) = (read?, engine?);
            let (op, reduce) = (call.transposed_op()?, updates.reduce()?);
            let made = engine.scatter(
                op,
                reduce,
                &call.rules()?,
                &*base.borrow(),
                &*indices.borrow(),
                &*values.borrow(),
            );
            RawTensor::settled(engine, made).await
        })
    }

    /// Scatters into a tensor on the device. Resolves once the device has accepted the work.
    #[wasm_bindgen(js_name = scatterInPlace)]
    pub fn scatter_in_place(
        &self,
        call: &str,
        updates: &str,
        destination: &RawTensor,
        indices: &RawTensor,
        values: &RawTensor,
    ) -> Promise {
        let (read, engine) = (read(call, updates), self.device_engine());
        let (indices, values) = (indices.shared(), values.shared());
        let destination = destination.shared();
        future_to_promise(async move {
            let ((call, updates), engine) = (read?, engine?);
            let (op, reduce) = (call.transposed_op()?, updates.reduce()?);
            // A page may hand in one tensor twice, which the library refuses: hence no `borrow_mut` yet.
            let mut written = destination.borrow().clone();
            let made = engine.scatter_into(
                op,
                reduce,
                &call.rules()?,
                &mut written,
                &*indices.borrow(),
                &*values.borrow(),
            );
            made.map_err(|e| failure(&e))?;
            destination.replace(written);
            engine.settle().await.map_err(|e| failure(&e))?;
            Ok(JsValue::UNDEFINED)
        })
    }

    /// The gradient of a gather on the device. Resolves once the device has accepted the work.
    #[wasm_bindgen(js_name = gatherGradientOnDevice)]
    pub fn gather_gradient_on_device(
        &self,
        call: &str,
        updates: &str,
        indices: &RawTensor,
        values: &RawTensor,
    ) -> Promise {
        let (read, engine) = (read(call, updates), self.device_engine());
        let (indices, values) = (indices.shared(), values.shared());
        future_to_promise(async move {
            let ((call, _), engine) = (read?, engine?);
            let made = engine.gather_gradient(
                call.op()?,
                &call.rules()?,
                &call.params_shape,
                &*indices.borrow(),
                &*values.borrow(),
            );
            RawTensor::settled(engine, made).await
        })
    }
}

fn read(call: &str, updates: &str) -> Result<(Call, Updates), JsValue> {
    let call = Call::read(call)?;
    let updates = Updates::read(updates, &call)?;
    Ok((call, updates))
}
