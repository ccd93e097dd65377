//! Makes the JavaScript that loads a WebAssembly module: bindgen MODULE FOLDER

use std::env::args;

use anyhow::{Context, Result};
use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<()> {
    let usage = "bindgen MODULE FOLDER";
    let module = args().nth(1).context(usage)?;
    let folder = args().nth(2).context(usage)?;
    let mut bindgen = Bindgen::new();
    bindgen.input_path(module).out_name("raw");
    // As the command does: beside raw.js is where `init` looks by itself.
    bindgen.omit_default_module_path(false);
    bindgen.web(true)?.typescript(true);
    bindgen
        .remove_name_section(true)
        .remove_producers_section(true)
        .generate(folder)
}
