//! Scatters, and the gradients of gathers. Of a call, `paramsShape` is the shape of the destination.

use js_sys::Promise;
use serde::Deserialize;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;
use wgpu_gather::{DType, Error, Executor, Layout, Op, Params, Reduce, Role, ScatterCall};

use crate::call::{Call, named};
use crate::device::RawTensor;
use crate::engine::{RawEngine, host_memory, host_tensor};
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

    fn params<'a>(&self, bytes: &'a [u8], dtype: DType) -> Result<Params<'a>, JsValue> {
        let layout = Layout::contiguous(&self.shape);
        Params::new(bytes, dtype.bytes(), layout).map_err(|e| failure(&e))
    }
}

/// What is scattered from host to host; the destination holds what is there before.
struct HostScatter {
    call: Call,
    op: Op,
    reduce: Reduce,
    updates: Updates,
    indices: Vec<u8>,
    values: Vec<u8>,
}

impl HostScatter {
    async fn run(self, executor: Executor, mut destination: Vec<u8>) -> Result<JsValue, JsValue> {
        let (call, rules, dtype) = (&self.call, self.call.rules()?, self.call.dtype()?);
        call.params(&destination)?;
        let scatter = ScatterCall {
            op: self.op,
            reduce: self.reduce,
            rules: &rules,
            dtype,
            shape: &call.params_shape,
            indices: &call.indices(&self.indices)?,
            updates: &self.updates.params(&self.values, dtype)?,
        };
        let made = executor.scatter_bytes(scatter, &mut destination).await;
        made.map_err(|e| failure(&e))?;
        Ok(host_tensor(&call.params_shape, &destination).into())
    }
}

#[wasm_bindgen]
impl RawEngine {
    /// Scatters from host to host, over a copy of `base`.
    pub fn scatter(
        &self,
        call: &str,
        updates: &str,
        base: Vec<u8>,
        indices: Vec<u8>,
        values: Vec<u8>,
    ) -> Promise {
        let read = read(call, updates);
        let executor = self.executor().clone();
        future_to_promise(async move {
            let (call, updates) = read?;
            let scatter = HostScatter {
                op: call.transposed_op()?,
                reduce: updates.reduce()?,
                call,
                updates,
                indices,
                values,
            };
            scatter.run(executor, base).await
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
        let read = read(call, updates);
        let executor = self.executor().clone();
        future_to_promise(async move {
            let (call, updates) = read?;
            let zeros = host_memory(tensor_bytes(&call.params_shape, call.dtype()?)?)?;
            let scatter = HostScatter {
                op: call.op()?,
                reduce: Reduce::Add,
                call,
                updates,
                indices,
                values,
            };
            scatter.run(executor, zeros).await
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
        let (index_type, dtype) = (indices.index_type(), values.dtype());
        let (base, indices, values) = (base.shared(), indices.shared(), values.shared());
        future_to_promise(async move {
            let ((call, updates), engine, index_type) = (read?, engine?, index_type?);
            let (op, reduce) = (call.transposed_op()?, updates.reduce()?);
            let made = engine.scatter_any(
                op,
                reduce,
                &call.rules()?,
                &base.borrow(),
                (&indices.borrow(), index_type),
                (&values.borrow(), dtype),
            );
            let made = made.map_err(|e| failure(&e))?;
            engine.settle().await.map_err(|e| failure(&e))?;
            Ok(RawTensor::new(engine, dtype, made).into())
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
        let (index_type, dtype) = (indices.index_type(), values.dtype());
        let (indices, values) = (indices.shared(), values.shared());
        let destination = destination.shared();
        future_to_promise(async move {
            let ((call, updates), engine, index_type) = (read?, engine?, index_type?);
            let (op, reduce) = (call.transposed_op()?, updates.reduce()?);
            // A page may hand in one tensor twice, which the library refuses: hence no `borrow_mut` yet.
            let mut written = destination.borrow().clone();
            let made = engine.scatter_any_into(
                op,
                reduce,
                &call.rules()?,
                &mut written,
                (&indices.borrow(), index_type),
                (&values.borrow(), dtype),
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
        let (index_type, dtype) = (indices.index_type(), values.dtype());
        let (indices, values) = (indices.shared(), values.shared());
        future_to_promise(async move {
            let ((call, _), engine, index_type) = (read?, engine?, index_type?);
            let made = engine.gather_gradient_any(
                call.op()?,
                &call.rules()?,
                &call.params_shape,
                (&indices.borrow(), index_type),
                (&values.borrow(), dtype),
            );
            let made = made.map_err(|e| failure(&e))?;
            engine.settle().await.map_err(|e| failure(&e))?;
            Ok(RawTensor::new(engine, dtype, made).into())
        })
    }
}

fn read(call: &str, updates: &str) -> Result<(Call, Updates), JsValue> {
    let call = Call::read(call)?;
    let updates = Updates::read(updates, &call)?;
    Ok((call, updates))
}

/// Bytes of a tensor, if it can be addressed.
fn tensor_bytes(shape: &[usize], dtype: DType) -> Result<usize, JsValue> {
    let bytes = Layout::checked_elements(shape).and_then(|n| n.checked_mul(dtype.bytes()));
    let addressable = bytes.filter(|&bytes| isize::try_from(bytes).is_ok());
    addressable.ok_or_else(|| {
        failure(&Error::SizeOverflow {
            role: Role::Params,
            shape: shape.to_vec(),
            element_bytes: dtype.bytes(),
        })
    })
}
