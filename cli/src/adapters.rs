//! `wgpu-gather adapters`: what a GPU backend could run on.

use anyhow::Result;
use serde_json::{Value, json};
use wgpu_gather::Error;
use wgpu_gather::gpu::{AdapterSummary, adapters};

use crate::answer::Answer;
use crate::args::AdaptersArgs;
use crate::text;

/// Lists the adapters, the one that `--backend gpu` takes first.
pub(crate) fn run(args: &AdaptersArgs) -> Result<Answer> {
    let found = pollster::block_on(adapters());
    if args.json {
        let all: Vec<Value> = found.iter().map(as_json).collect();
        return Ok(Answer::json(&all.into(), true));
    }
    if found.is_empty() {
        let how_to_get_one = Error::NoAdapter {
            wanted: None,
            available: Vec::new(),
        };
        return Ok(Answer::good(format!(
            "{how_to_get_one}\nEverything runs on the CPU path, which needs none.\n"
        )));
    }
    let headings = [
        "name",
        "API",
        "kind",
        "driver",
        "binding limit ",
        "buffer limit ",
    ];
    let rows: Vec<Vec<String>> = found.iter().map(as_row).collect();
    Ok(Answer::good(text::table(&headings, &rows)))
}

fn as_row(adapter: &AdapterSummary) -> Vec<String> {
    vec![
        adapter.name.clone(),
        adapter.api.clone(),
        adapter.kind.to_owned(),
        adapter.driver.clone(),
        text::bytes(adapter.max_binding_bytes),
        text::bytes(adapter.max_buffer_bytes),
    ]
}

fn as_json(adapter: &AdapterSummary) -> Value {
    json!({
        "name": adapter.name,
        "api": adapter.api,
        "kind": adapter.kind,
        "driver": adapter.driver,
        "max_binding_bytes": adapter.max_binding_bytes,
        "max_buffer_bytes": adapter.max_buffer_bytes,
    })
}
