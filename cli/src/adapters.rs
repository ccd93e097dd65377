//! `wgpu-gather adapters`: what a GPU backend could run on.

use anyhow::Result;
use serde_json::{Value, json};
use wgpu_gather::Error;
use wgpu_gather::gpu::{ProbedAdapter, probe_adapters};

use crate::answer::Answer;
use crate::args::AdaptersArgs;
use crate::text;

/// Lists the adapters, the one that `--backend gpu` takes first, and what each lacks to run gathers.
pub(crate) fn run(args: &AdaptersArgs) -> Result<Answer> {
    let found = probe_adapters().wait();
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
        "lacks",
    ];
    let rows: Vec<Vec<String>> = found.iter().map(as_row).collect();
    Ok(Answer::good(text::table(&headings, &rows)))
}

fn as_row(probed: &ProbedAdapter) -> Vec<String> {
    let adapter = &probed.adapter;
    let lacks = probed.lacks.as_deref().unwrap_or("nothing");
    vec![
        adapter.name.clone(),
        adapter.api.to_string(),
        adapter.kind_name().to_owned(),
        adapter.driver.clone(),
        text::bytes(adapter.max_binding_bytes),
        text::bytes(adapter.max_buffer_bytes),
        lacks.to_owned(),
    ]
}

fn as_json(probed: &ProbedAdapter) -> Value {
    let adapter = &probed.adapter;
    json!({
        "name": adapter.name,
        "api": adapter.api.to_str(),
        "kind": adapter.kind_name(),
        "driver": adapter.driver,
        "max_binding_bytes": adapter.max_binding_bytes,
        "max_buffer_bytes": adapter.max_buffer_bytes,
        "lacks": probed.lacks,
    })
}
