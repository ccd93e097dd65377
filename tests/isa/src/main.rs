//! What GPUs' own compilers make of wgpu-gather's pipelines, without a GPU: `tests/isa.sh` runs it.

mod amd;
mod bench;
mod cards;
mod drivers;
mod faults;
mod figures;
mod halves;
mod instruction;
mod kernels;
mod program;
mod resolve;
mod spirv;
mod table;
mod vulkan;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use bench::Bench;
use table::Table;
use vulkan::Device;
use wgpu_gather::gpu::internals::{PipelineSource, pipelines};

/// The segments of params that devices bind which have many bindings.
const SEGMENTS: u32 = 8;

const USAGE: &str =
    "usage: wgpu-gather-isa device | print | check FILE | renew FILE | assembly PIPELINE";

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut all = pipelines(SEGMENTS);
    halves::add(&mut all);
    all.sort_by(|a, b| a.name.cmp(&b.name));
    match arguments[..] {
        ["device"] => println!("{}", Device::new()?.name),
        ["print"] => print!("{}", measure(&Bench::new()?, &all)?.0),
        ["check", file] => return check(&Bench::new()?, &all, file),
        ["renew", file] => {
            let (table, complaints) = measure(&Bench::new()?, &all)?;
            std::fs::write(file, table.to_string())?;
            println!("{file}: {} pipelines", all.len());
            // They fail the next check.
            complaints.iter().for_each(|text| println!("{text}"));
        }
        ["assembly", name] => {
            let source = all.iter().find(|source| source.name == name);
            let source = source.ok_or_else(|| format!("there is no pipeline {name}"))?;
            let compiled = Bench::new()?.compile(source, true)?;
            for (name, number) in &compiled.statistics {
                println!("{name}: {number}");
            }
            for (name, text) in &compiled.texts {
                println!("\n{name}:\n{text}");
            }
        }
        _ => return Err(USAGE.into()),
    }
    Ok(ExitCode::SUCCESS)
}

/// The table, and the limits that are exceeded.
fn measure(bench: &Bench, all: &[PipelineSource]) -> Result<(Table, Vec<String>), String> {
    let mut table = bench.empty_table();
    let mut complaints = Vec::new();
    for source in all {
        let measured = bench.measure(source)?;
        let of_pipeline = |text| format!("{}: {text}", source.name);
        complaints.extend(measured.complaints.into_iter().map(of_pipeline));
        table.lines.push(measured.line);
    }
    Ok((table, complaints))
}

/// Holds against the limits, with the table in a file where the driver is that of the table, and plants
/// the faults.
fn check(bench: &Bench, all: &[PipelineSource], file: &str) -> Result<ExitCode, Box<dyn Error>> {
    let text = std::fs::read_to_string(file).map_err(|e| format!("{file}: {e}"))?;
    let kept = Table::read(&text).ok_or_else(|| format!("{file} is no table"))?;
    let (now, mut wrong) = measure(bench, all)?;
    println!("{}, {}", now.device, now.driver);
    if kept.device != now.device {
        return Err(format!("{file} is of {}", kept.device).into());
    }
    let (reported, missed) = faults::check(bench, all);
    wrong.extend(missed);
    let compared = kept.driver == now.driver;
    if compared {
        let name = Path::new(file).file_stem().unwrap_or_default();
        wrong.extend(kept.report(&now, &name.to_string_lossy()));
    } else {
        println!(
            "skipped: the figures of {file}, which are of {}; limits only",
            kept.driver
        );
    }
    wrong.iter().for_each(|text| println!("FAILED: {text}"));
    println!(
        "{} passed, {} failed, {} skipped",
        (all.len() + reported).saturating_sub(wrong.len()),
        wrong.len(),
        usize::from(!compared)
    );
    Ok(match wrong.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}
