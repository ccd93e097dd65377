//! Tensors that stay on the device.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{Array, Promise};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;
use wgpu_gather::gpu::{AnyDeviceTensor, Engine};
use wgpu_gather::{AnyTensor, DType, Error};

use crate::call::{Call, named};
use crate::engine::{RawEngine, host_tensor, shape_array};
use crate::failure::{failure, not_a_call};

/// A tensor on the device. Calls see it as it is when they are made, one after the other: a scatter in
/// place that was not awaited comes before a gather that follows it, and leaves its status here.
#[wasm_bindgen]
pub struct RawTensor {
    engine: Engine,
    tensor: Shared,
}

/// A tensor that calls under way share with JavaScript.
pub(crate) type Shared = Rc<RefCell<AnyDeviceTensor>>;

#[wasm_bindgen]
impl RawTensor {
    /// The extent of each dim.
    #[wasm_bindgen(getter)]
    pub fn shape(&self) -> Array {
        shape_array(self.tensor.borrow().shape())
    }

    /// Another handle of the same tensor: an argument that may be left out is taken by value.
    pub fn share(&self) -> RawTensor {
        RawTensor {
            engine: self.engine.clone(),
            tensor: self.shared(),
        }
    }

    /// The elements.
    pub fn download(&self) -> Promise {
        let (engine, tensor) = (self.engine.clone(), self.shared());
        future_to_promise(async move {
            let tensor = tensor.borrow().clone();
            host_tensor(engine.download(&tensor).await)
        })
    }

    /// Waits for the calls that made it. Rejects with their errors, and with the bad indices that they
    /// counted.
    pub fn check(&self) -> Promise {
        let (engine, tensor) = (self.engine.clone(), self.shared());
        future_to_promise(async move {
            let tensor = tensor.borrow().clone();
            match engine.check(&tensor).await.map_err(|e| failure(&e))? {
                None => Ok(JsValue::UNDEFINED),
                Some(bad) => Err(failure(&Error::IndexOutOfBounds(Box::new(bad)))),
            }
        })
    }
}

#[wasm_bindgen]
impl RawEngine {
    /// Uploads elements of the type `dtype`.
    pub fn upload(&self, dtype: &str, shape: Vec<usize>, bytes: Vec<u8>) -> Promise {
        let engine = self.device_engine();
        let dtype: Result<DType, _> = named(dtype);
        future_to_promise(async move {
            let (engine, dtype) = (engine?, dtype?);
            if dtype.bytes() > 8 {
                return Err(not_a_call(&format!("{dtype} has no typed array")));
            }
            let tensor = AnyTensor::new(&shape, dtype, bytes).map_err(|e| failure(&e))?;
            let uploaded = engine.upload(&tensor).await;
            Ok(RawTensor::new(&engine, uploaded)?.into())
        })
    }

    /// Gathers on the device. Resolves once the device has accepted the work.
    #[wasm_bindgen(js_name = gatherOnDevice)]
    pub fn gather_on_device(&self, call: &str, params: &RawTensor, indices: &RawTensor) -> Promise {
        let (call, engine) = (Call::read(call), self.device_engine());
        let (params, indices) = (params.shared(), indices.shared());
        future_to_promise(async move {
            let (call, engine) = (call?, engine?);
            let (op, rules) = (call.op()?, call.rules()?);
            let made = engine.gather(op, &rules, &*params.borrow(), &*indices.borrow());
            RawTensor::settled(engine, made).await
        })
    }
}

impl RawTensor {
    fn new(engine: &Engine, made: wgpu_gather::Result<AnyDeviceTensor>) -> Result<Self, JsValue> {
        let tensor = made.map_err(|e| failure(&e))?;
        Ok(RawTensor {
            engine: engine.clone(),
            tensor: Rc::new(RefCell::new(tensor)),
        })
    }

    /// What a call made, once the device has accepted the work.
    pub(crate) async fn settled(
        engine: Engine,
        made: wgpu_gather::Result<AnyDeviceTensor>,
    ) -> Result<JsValue, JsValue> {
        let tensor = RawTensor::new(&engine, made)?;
        engine.settle().await.map_err(|e| failure(&e))?;
        Ok(tensor.into())
    }

    /// The tensor, for a call to look at when it is made.
    pub(crate) fn shared(&self) -> Shared {
        Rc::clone(&self.tensor)
    }
}

impl RawEngine {
    pub(crate) fn device_engine(&self) -> Result<Engine, JsValue> {
        let cpu = || not_a_call("the CPU path has no device tensors");
        self.engine().cloned().ok_or_else(cpu)
    }
}
