//! What `index.js` is written on: calls as JSON and bytes, results as promises. No page should
//! need to call it directly.

#![cfg(target_arch = "wasm32")]

mod bag;
mod call;
mod device;
mod engine;
mod failure;
mod handles;
mod quantized;
mod random;
mod scatter;
mod suite;

use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = console)]
    fn error(text: &str);
}

/// Names a panic in the console, where the browser would say "unreachable executed".
#[wasm_bindgen(start)]
pub fn start() {
    std::panic::set_hook(Box::new(|info| error(&format!("wgpu-gather: {info}"))));
}
