//! Tensors that stay on the device.

use js_sys::{Array, Promise};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;
use wgpu_gather::gpu::{DeviceTensor, Engine};
use wgpu_gather::{DType, Element, Error, Index, Op, Rules, TensorView};

use crate::call::Call;
use crate::engine::{RawEngine, host_tensor, shape_array};
use crate::failure::{failure, not_a_call};

/// A tensor on the device: a gather moves bits, so only the types of indices have a type.
#[derive(Clone)]
pub(crate) enum Typed {
    B1(DeviceTensor<u8>),
    B2(DeviceTensor<u16>),
    I32(DeviceTensor<i32>),
    U32(DeviceTensor<u32>),
    I64(DeviceTensor<i64>),
    U64(DeviceTensor<u64>),
}

/// Runs `$body` with the tensor in `$typed` as `$tensor`.
macro_rules! with_tensor {
    ($typed:expr, $tensor:ident => $body:expr) => {
        match $typed {
            $crate::device::Typed::B1($tensor) => $body,
            $crate::device::Typed::B2($tensor) => $body,
            $crate::device::Typed::I32($tensor) => $body,
            $crate::device::Typed::U32($tensor) => $body,
            $crate::device::Typed::I64($tensor) => $body,
            $crate::device::Typed::U64($tensor) => $body,
        }
    };
}

pub(crate) use with_tensor;

/// A tensor on the device.
#[wasm_bindgen]
pub struct RawTensor {
    engine: Engine,
    typed: Typed,
}

#[wasm_bindgen]
impl RawTensor {
    /// The extent of each dim.
    #[wasm_bindgen(getter)]
    pub fn shape(&self) -> Array {
        with_tensor!(&self.typed, tensor => shape_array(tensor.shape()))
    }

    /// The elements.
    pub fn download(&self) -> Promise {
        let (engine, typed) = (self.engine.clone(), self.typed.clone());
        future_to_promise(async move {
            with_tensor!(&typed, tensor => {
                let made = engine.download(tensor).await.map_err(|e| failure(&e))?;
                Ok(host_tensor(made.shape(), bytemuck::cast_slice(made.data())).into())
            })
        })
    }

    /// Waits for the gathers that made it; their errors.
    pub fn check(&self) -> Promise {
        let (engine, typed) = (self.engine.clone(), self.typed.clone());
        future_to_promise(async move {
            with_tensor!(&typed, tensor => {
                engine.check(tensor).await.map_err(|e| failure(&e))?;
                Ok(JsValue::UNDEFINED)
            })
        })
    }
}

#[wasm_bindgen]
impl RawEngine {
    /// Uploads elements of the type `dtype`.
    pub fn upload(&self, dtype: &str, shape: Vec<usize>, bytes: Vec<u8>) -> Promise {
        let engine = self.device_engine();
        let dtype: Result<DType, _> = dtype.parse().map_err(|e: Error| not_a_call(&e.to_string()));
        future_to_promise(async move {
            let (engine, dtype) = (engine?, dtype?);
            let typed = match (dtype.bytes(), dtype) {
                (1, _) => Typed::B1(upload(&engine, &shape, &bytes).await?),
                (2, _) => Typed::B2(upload(&engine, &shape, &bytes).await?),
                (4, DType::I32) => Typed::I32(upload(&engine, &shape, &bytes).await?),
                (4, _) => Typed::U32(upload(&engine, &shape, &bytes).await?),
                (8, DType::I64) => Typed::I64(upload(&engine, &shape, &bytes).await?),
                (8, _) => Typed::U64(upload(&engine, &shape, &bytes).await?),
                _ => return Err(not_a_call(&format!("{dtype} has no typed array"))),
            };
            Ok(RawTensor { engine, typed }.into())
        })
    }

    /// Gathers on the device. Resolves once the device has accepted the work.
    #[wasm_bindgen(js_name = gatherOnDevice)]
    pub fn gather_on_device(&self, call: &str, params: &RawTensor, indices: &RawTensor) -> Promise {
        let (call, engine) = (Call::read(call), self.device_engine());
        let (params, indices) = (params.typed.clone(), indices.typed.clone());
        future_to_promise(async move {
            let (call, engine) = (call?, engine?);
            let (op, rules) = (call.op()?, call.rules()?);
            let typed = gather(&engine, op, &rules, &params, &indices)?;
            engine.settle().await.map_err(|e| failure(&e))?;
            Ok(RawTensor { engine, typed }.into())
        })
    }
}

impl RawTensor {
    pub(crate) fn typed(&self) -> &Typed {
        &self.typed
    }
}

impl RawEngine {
    fn device_engine(&self) -> Result<Engine, JsValue> {
        let cpu = || not_a_call("the CPU path has no device tensors");
        self.engine().cloned().ok_or_else(cpu)
    }
}

async fn upload<T: Element + bytemuck::Pod>(
    engine: &Engine,
    shape: &[usize],
    bytes: &[u8],
) -> Result<DeviceTensor<T>, JsValue> {
    if !bytes.len().is_multiple_of(size_of::<T>()) {
        return Err(not_a_call("the bytes end within an element"));
    }
    let data: Vec<T> = bytemuck::pod_collect_to_vec(bytes);
    let view = TensorView::new(shape, &data).map_err(|e| failure(&e))?;
    engine.upload(&view).await.map_err(|e| failure(&e))
}

fn gather(
    engine: &Engine,
    op: Op,
    rules: &Rules,
    params: &Typed,
    indices: &Typed,
) -> Result<Typed, JsValue> {
    Ok(match params {
        Typed::B1(params) => Typed::B1(gather_from(engine, op, rules, params, indices)?),
        Typed::B2(params) => Typed::B2(gather_from(engine, op, rules, params, indices)?),
        Typed::I32(params) => Typed::I32(gather_from(engine, op, rules, params, indices)?),
        Typed::U32(params) => Typed::U32(gather_from(engine, op, rules, params, indices)?),
        Typed::I64(params) => Typed::I64(gather_from(engine, op, rules, params, indices)?),
        Typed::U64(params) => Typed::U64(gather_from(engine, op, rules, params, indices)?),
    })
}

fn gather_from<T: Element>(
    engine: &Engine,
    op: Op,
    rules: &Rules,
    params: &DeviceTensor<T>,
    indices: &Typed,
) -> Result<DeviceTensor<T>, JsValue> {
    fn at<T: Element, I: Index<Wide = I>>(
        engine: &Engine,
        op: Op,
        rules: &Rules,
        params: &DeviceTensor<T>,
        indices: &DeviceTensor<I>,
    ) -> Result<DeviceTensor<T>, JsValue> {
        let made = engine.gather(op, rules, params, indices);
        made.map_err(|e| failure(&e))
    }
    match indices {
        Typed::I32(indices) => at(engine, op, rules, params, indices),
        Typed::U32(indices) => at(engine, op, rules, params, indices),
        Typed::I64(indices) => at(engine, op, rules, params, indices),
        Typed::U64(indices) => at(engine, op, rules, params, indices),
        Typed::B1(_) | Typed::B2(_) => {
            Err(not_a_call("indices on the device are 32 or 64 bits wide"))
        }
    }
}
