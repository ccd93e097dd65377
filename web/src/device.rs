//! Tensors that stay on the device.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{Array, Promise};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;
use wgpu_gather::gpu::{AnyDeviceTensor, Engine};
use wgpu_gather::{DType, Error, IndexType, Layout, Params, TensorView};

use crate::call::{Call, named};
use crate::engine::{RawEngine, host_memory, host_tensor, shape_array};
use crate::failure::{failure, not_a_call};

/// A tensor on the device. Calls see it as it is when they are made, one after the other: a scatter in
/// place that was not awaited comes before a gather that follows it, and leaves its status here.
#[wasm_bindgen]
pub struct RawTensor {
    engine: Engine,
    dtype: DType,
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
            dtype: self.dtype,
            tensor: self.shared(),
        }
    }

    /// The elements.
    pub fn download(&self) -> Promise {
        let (engine, tensor) = (self.engine.clone(), self.shared());
        future_to_promise(async move {
            let tensor = tensor.borrow().clone();
            let elements: usize = tensor.shape().iter().product();
            let mut bytes = host_memory(elements * tensor.element_bytes())?;
            let downloaded = engine.download_bytes(&tensor, &mut bytes).await;
            downloaded.map_err(|e| failure(&e))?;
            Ok(host_tensor(tensor.shape(), &bytes).into())
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
            check_length(&shape, dtype.bytes(), bytes.len())?;
            let params = Params::new(&bytes, dtype.bytes(), Layout::contiguous(&shape));
            let params = params.map_err(|e| failure(&e))?;
            let tensor = engine.upload_any(&params).await.map_err(|e| failure(&e))?;
            Ok(RawTensor::new(engine, dtype, tensor).into())
        })
    }

    /// Gathers on the device. Resolves once the device has accepted the work.
    #[wasm_bindgen(js_name = gatherOnDevice)]
    pub fn gather_on_device(&self, call: &str, params: &RawTensor, indices: &RawTensor) -> Promise {
        let (call, engine) = (Call::read(call), self.device_engine());
        let (dtype, params) = (params.dtype, params.shared());
        let (index_type, indices) = (indices.index_type(), indices.shared());
        future_to_promise(async move {
            let (call, engine, index_type) = (call?, engine?, index_type?);
            let (op, rules) = (call.op()?, call.rules()?);
            let made =
                engine.gather_any(op, &rules, &params.borrow(), &indices.borrow(), index_type);
            let tensor = made.map_err(|e| failure(&e))?;
            engine.settle().await.map_err(|e| failure(&e))?;
            Ok(RawTensor::new(engine, dtype, tensor).into())
        })
    }
}

impl RawTensor {
    pub(crate) fn new(engine: Engine, dtype: DType, tensor: AnyDeviceTensor) -> Self {
        RawTensor {
            engine,
            dtype,
            tensor: Rc::new(RefCell::new(tensor)),
        }
    }

    /// The tensor, for a call to look at when it is made.
    pub(crate) fn shared(&self) -> Shared {
        Rc::clone(&self.tensor)
    }

    pub(crate) fn dtype(&self) -> DType {
        self.dtype
    }

    /// What indices of its type are on the device, where nothing widens them.
    pub(crate) fn index_type(&self) -> Result<IndexType, JsValue> {
        match self.dtype {
            DType::I32 => Ok(IndexType::I32),
            DType::U32 | DType::F32 => Ok(IndexType::U32),
            DType::I64 => Ok(IndexType::I64),
            DType::U64 | DType::F64 | DType::C64 => Ok(IndexType::U64),
            _ => Err(not_a_call("indices on the device are 32 or 64 bits wide")),
        }
    }
}

impl RawEngine {
    pub(crate) fn device_engine(&self) -> Result<Engine, JsValue> {
        let cpu = || not_a_call("the CPU path has no device tensors");
        self.engine().cloned().ok_or_else(cpu)
    }
}

/// Refuses bytes that are not just the elements of a tensor.
fn check_length(shape: &[usize], width: usize, bytes: usize) -> Result<(), JsValue> {
    if !bytes.is_multiple_of(width) {
        return Err(not_a_call("the bytes end within an element"));
    }
    // Their number is what counts.
    let elements = vec![(); bytes / width];
    let view = TensorView::new(shape, &elements);
    view.map(|_| ()).map_err(|e| failure(&e))
}
