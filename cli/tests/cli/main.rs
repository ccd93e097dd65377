//! Runs the real command: files of hand-made bytes in, output bytes typed by hand.

mod bad_calls;
mod bad_indices;
mod bench;
mod bench_folds;
mod commands;
mod demo;
mod documented;
mod drivers;
mod elements;
mod explain;
mod folds;
mod formats;
mod gguf;
mod gpu;
mod inputs;
mod kit;
#[cfg(unix)]
mod large;
mod printed;
mod quantized;
mod quantized_bags;
mod semantics;
mod shell;
mod show;
