//! Pooled lookups. Of a call, `paramsShape` is the shape of the table; its operator is not looked at.

use js_sys::Promise;
use serde::Deserialize;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;
use wgpu_gather::{BagMode, Bags, DType, Executor, Indices, Layout, Params};

use crate::call::{Call, named};
use crate::device::RawTensor;
use crate::engine::{RawEngine, host_tensor};
use crate::failure::{failure, not_a_call};

/// What a pooled lookup has beside a gather, as `index.js` describes it in JSON.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Pooling {
    mode: String,
    padding_index: Option<isize>,
    /// Each row of indices is a bag without them.
    offsets: Option<Offsets>,
    include_last_offset: bool,
    weights: Option<Weights>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Offsets {
    index_type: String,
    shape: Vec<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Weights {
    dtype: String,
    shape: Vec<usize>,
}

impl Pooling {
    /// Reads it, for the table of `call`.
    fn read(json: &str, call: &Call) -> Result<Pooling, JsValue> {
        let pooling: Pooling =
            serde_json::from_str(json).map_err(|error| not_a_call(&error.to_string()))?;
        if let Some(weights) = pooling.weights.as_ref().filter(|w| w.dtype != call.dtype) {
            return Err(not_a_call(&format!(
                "weights of {} for a table of {}",
                weights.dtype, call.dtype
            )));
        }
        Ok(pooling)
    }

    fn mode(&self) -> Result<BagMode, JsValue> {
        named(&self.mode)
    }

    /// The offsets in `bytes`, if there are any.
    fn offsets(&self, bytes: &[u8]) -> Result<Option<Vec<usize>>, JsValue> {
        let Some(offsets) = &self.offsets else {
            return Ok(None);
        };
        let layout = Layout::contiguous(&offsets.shape);
        let read = Indices::new(bytes, named(&offsets.index_type)?, layout)
            .and_then(|offsets| Bags::read_offsets(&offsets));
        read.map(Some).map_err(|e| failure(&e))
    }

    fn bags<'a>(&self, offsets: Option<&'a [usize]>) -> Result<Bags<'a>, JsValue> {
        let mode = self.mode()?;
        let bags = match offsets {
            None => Bags::rows(mode),
            Some(offsets) if self.include_last_offset => Bags::offsets_with_last(mode, offsets),
            Some(offsets) => Bags::offsets(mode, offsets),
        };
        Ok(match self.padding_index {
            Some(padding) => bags.with_padding_index(padding),
            None => bags,
        })
    }

    /// The weights in `bytes`, if there are any.
    fn weights<'a>(&self, bytes: &'a [u8]) -> Result<Option<Params<'a>>, JsValue> {
        let params = |weights: &Weights| {
            let layout = Layout::contiguous(&weights.shape);
            let dtype: DType = named(&weights.dtype)?;
            Params::new(bytes, dtype, layout).map_err(|e| failure(&e))
        };
        self.weights.as_ref().map(params).transpose()
    }
}

/// A tensor that holds one element, whatever its shape: plans look at no values.
fn of_one_element(shape: &[usize]) -> Result<Layout, JsValue> {
    Layout::strided(shape, &vec![0; shape.len()], 0).map_err(|e| failure(&e))
}

#[wasm_bindgen]
impl RawEngine {
    /// How a pooled lookup is executed, in words.
    #[wasm_bindgen(js_name = explainBag)]
    pub fn explain_bag(
        &self,
        call: &str,
        pooling: &str,
        offsets: &[u8],
    ) -> Result<String, JsValue> {
        let (call, pooling) = read(call, pooling)?;
        let offsets = pooling.offsets(offsets)?;
        let (bags, rules) = (pooling.bags(offsets.as_deref())?, call.rules()?);
        let (dtype, index_type) = (call.dtype()?, call.index_type()?);
        let (element, index) = (vec![0; dtype.bytes()], vec![0; index_type.bytes()]);
        let params = Params::new(&element[..], dtype, of_one_element(&call.params_shape)?);
        let indices = Indices::new(&index[..], index_type, of_one_element(&call.indices_shape)?);
        let (params, indices) = (
            params.map_err(|e| failure(&e))?,
            indices.map_err(|e| failure(&e))?,
        );
        let bag = Executor::Cpu.embedding_bag(bags, &rules, &params, &indices);
        Ok(bag.explain().map_err(|e| failure(&e))?.to_string())
    }

    /// Pools from host to host.
    #[wasm_bindgen(js_name = embeddingBag)]
    pub fn embedding_bag(
        &self,
        call: &str,
        pooling: &str,
        params: Vec<u8>,
        indices: Vec<u8>,
        offsets: Vec<u8>,
        weights: Vec<u8>,
    ) -> Promise {
        let (read, executor) = (read(call, pooling), self.executor().clone());
        future_to_promise(async move {
            let (call, pooling) = read?;
            let (offsets, weights) = (pooling.offsets(&offsets)?, pooling.weights(&weights)?);
            let (bags, rules) = (pooling.bags(offsets.as_deref())?, call.rules()?);
            let (params, indices) = (call.params(&params)?, call.indices(&indices)?);
            let bag = executor.embedding_bag(bags, &rules, &params, &indices);
            host_tensor(match &weights {
                Some(weights) => bag.weights(weights).await,
                None => bag.await,
            })
        })
    }

    /// Pools on the device; offsets come from the host. Resolves once the device has accepted the work.
    #[wasm_bindgen(js_name = embeddingBagOnDevice)]
    pub fn embedding_bag_on_device(
        &self,
        call: &str,
        pooling: &str,
        params: &RawTensor,
        indices: &RawTensor,
        offsets: Vec<u8>,
        weights: Option<RawTensor>,
    ) -> Promise {
        let (read, engine) = (read(call, pooling), self.device_engine());
        let (params, indices) = (params.shared(), indices.shared());
        let weights = weights.map(|weights| weights.shared());
        future_to_promise(async move {
            let ((call, pooling), engine) = (read?, engine?);
            let offsets = pooling.offsets(&offsets)?;
            let (bags, rules) = (pooling.bags(offsets.as_deref())?, call.rules()?);
            let weights = weights.map(|weights| weights.borrow().clone());
            let (params, indices) = (params.borrow().clone(), indices.borrow().clone());
            let made = engine.embedding_bag(bags, &rules, &params, &indices, weights.as_ref());
            RawTensor::settled(engine, made).await
        })
    }
}

fn read(call: &str, pooling: &str) -> Result<(Call, Pooling), JsValue> {
    let call = Call::read(call)?;
    let pooling = Pooling::read(pooling, &call)?;
    Ok((call, pooling))
}
