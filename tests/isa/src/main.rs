//! What GPUs' own compilers make of wgpu-gather's pipelines, without a GPU.

mod amd;
mod cards;
mod figures;
mod instruction;
mod kernels;
mod program;
mod spirv;
mod table;
mod vulkan;

use std::error::Error;

use cards::Card;
use spirv::Shader;
use table::{Line, Table};
use vulkan::Device;
use wgpu_gather::gpu::internals::pipelines;

/// Segments of params that a device with many bindings has.
const SEGMENTS: u32 = 8;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let device = Device::new()?;
    let card = Card::of(&device.name);
    let mut all = pipelines(SEGMENTS);
    all.sort_by(|a, b| a.name.cmp(&b.name));
    let mut table = Table {
        head: format!("{}, {}", device.name, device.driver),
        columns: Vec::new(),
        lines: Vec::new(),
    };
    for source in &all {
        let shader = Shader::new(source)?;
        let compiled = device.compile(&shader)?;
        if arguments.first().is_some_and(|a| a == "assembly") {
            if arguments.get(1).is_some_and(|name| *name == source.name) {
                for (name, text) in &compiled.texts {
                    println!("## {name}\n{text}");
                }
            }
            continue;
        }
        let cells = match &card {
            Some(card) => amd::line(card, source, &compiled),
            None => compiled
                .statistics
                .iter()
                .map(|(_, n)| n.to_string())
                .collect(),
        };
        if table.columns.is_empty() {
            table.columns = match card {
                Some(_) => amd::COLUMNS.map(str::to_owned).to_vec(),
                None => compiled
                    .statistics
                    .iter()
                    .map(|(name, _)| name.clone())
                    .collect(),
            };
        }
        table.lines.push(Line {
            pipeline: source.name.clone(),
            cells,
        });
    }
    print!("{table}");
    Ok(())
}
