//! The engine's own device and buffers, for shaders of the page.

use js_sys::{Array, Object};
use wasm_bindgen::prelude::*;

use crate::device::RawTensor;
use crate::engine::RawEngine;
use crate::failure::{number, set};

#[wasm_bindgen]
impl RawEngine {
    /// The `GPUDevice`; nothing for the CPU path.
    #[wasm_bindgen(getter)]
    pub fn device(&self) -> JsValue {
        let device = self.engine().and_then(|engine| engine.device().as_webgpu());
        device.map_or(JsValue::UNDEFINED, handle)
    }
}

#[wasm_bindgen]
impl RawTensor {
    /// The buffers that the elements lie in, row-major: `{ buffer, start }`, of which `start` is the
    /// first byte of the tensor that lies in `buffer`, at its start.
    #[wasm_bindgen(getter)]
    pub fn parts(&self) -> Array {
        let mut start = 0;
        let object = |slice: wgpu_gather::wgpu::BufferSlice<'_>| {
            let (part, buffer) = (Object::new(), slice.buffer().as_webgpu());
            set(&part, "buffer", &buffer.map_or(JsValue::UNDEFINED, handle));
            set(&part, "start", &number(start as f64));
            start += slice.size();
            part
        };
        self.shared().borrow().share_parts().map(object).collect()
    }
}

fn handle(object: &impl AsRef<JsValue>) -> JsValue {
    object.as_ref().clone()
}
