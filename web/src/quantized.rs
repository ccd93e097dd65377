//! Gathers from quantized tables in the blocks of GGUF. Of a call, `dtype` is the type that elements are
//! decoded to, and `paramsShape` the shape of the table in elements.

use js_sys::{Array, Promise};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;
use wgpu_gather::gpu::{DeviceQuantizedTable, Engine};
use wgpu_gather::quantized::{BlockFormat, FloatType, QuantizedTable};

use crate::call::Call;
use crate::device::RawTensor;
use crate::engine::{RawEngine, host_tensor, shape_array};
use crate::failure::{failure, not_a_call};

/// A quantized table on the device.
#[wasm_bindgen]
pub struct RawQuantizedTable {
    engine: Engine,
    table: DeviceQuantizedTable,
}

#[wasm_bindgen]
impl RawQuantizedTable {
    /// The extent of each dim, in elements.
    #[wasm_bindgen(getter)]
    pub fn shape(&self) -> Array {
        shape_array(self.table.shape())
    }

    /// Gathers into a tensor on the device. Resolves once the device has accepted the work.
    pub fn gather(&self, call: &str, indices: &RawTensor) -> Promise {
        let (call, engine) = (Call::read(call), self.engine.clone());
        let (table, indices) = (self.table.clone(), indices.shared());
        future_to_promise(async move {
            let call = call?;
            let (op, rules, to) = (call.op()?, call.rules()?, float_type(&call)?);
            let made = engine.gather(op, &rules, &table.to_type(to), &*indices.borrow());
            RawTensor::settled(engine, made).await
        })
    }
}

#[wasm_bindgen]
impl RawEngine {
    /// Gathers from host to host.
    #[wasm_bindgen(js_name = gatherQuantized)]
    pub fn gather_quantized(
        &self,
        format: &str,
        call: &str,
        codes: Vec<u8>,
        indices: Vec<u8>,
    ) -> Promise {
        let (format, call) = (block_format(format), Call::read(call));
        let executor = self.executor().clone();
        future_to_promise(async move {
            let (format, call) = (format?, call?);
            let (op, rules, to) = (call.op()?, call.rules()?, float_type(&call)?);
            let indices = call.indices(&indices)?;
            let table = QuantizedTable::blocks(format, &call.params_shape, &codes);
            let table = table.map_err(|e| failure(&e))?;
            let table = table.to_type(to);
            host_tensor(executor.gather(op, &rules, &table, &indices).await)
        })
    }

    /// Uploads a table as it is.
    #[wasm_bindgen(js_name = uploadQuantized)]
    pub fn upload_quantized(&self, format: &str, shape: Vec<usize>, codes: Vec<u8>) -> Promise {
        let (format, engine) = (block_format(format), self.device_engine());
        future_to_promise(async move {
            let (format, engine) = (format?, engine?);
            let table = QuantizedTable::blocks(format, &shape, &codes);
            let table = table.map_err(|e| failure(&e))?;
            let table = engine.upload(&table).await;
            let table = table.map_err(|e| failure(&e))?;
            Ok(RawQuantizedTable { engine, table }.into())
        })
    }
}

fn block_format(name: &str) -> Result<BlockFormat, JsValue> {
    name.parse().map_err(|error| failure(&error))
}

fn float_type(call: &Call) -> Result<FloatType, JsValue> {
    let dtype = call.dtype()?;
    let found = FloatType::ALL.into_iter().find(|to| to.dtype() == dtype);
    found.ok_or_else(|| {
        not_a_call(&format!(
            "elements are decoded to f32 or f16, not to {dtype}"
        ))
    })
}
