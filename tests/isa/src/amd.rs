//! What AMD's GPUs execute, by the assembly of Mesa's compiler.

use wgpu_gather::gpu::internals::PipelineSource;

use crate::cards::Card;
use crate::figures::Figures;
use crate::kernels::Kernel;
use crate::vulkan::Compiled;

pub(crate) const COLUMNS: [&str; 20] = [
    "VGPRs",
    "SGPRs",
    "spills",
    "waves",
    "code",
    "VALU",
    "x4",
    "SALU",
    "SMEM",
    "loads",
    "of 128",
    "stores",
    "of 128",
    "waits",
    "scalar waits",
    "KiB in flight",
    "bytes out",
    "VALU cycles",
    "memory cycles",
    "ratio",
];

/// The cells of a pipeline's line.
pub(crate) fn line(card: &Card, source: &PipelineSource, compiled: &Compiled) -> Vec<String> {
    let lanes = compiled.lanes;
    let figures = Figures::new(compiled.assembly(), card.generation, lanes);
    let statistic = |name| compiled.statistic(name).unwrap_or(f64::NAN);
    let waves = card.occupancy(lanes, statistic("VGPRs"));
    let spills =
        statistic("Spilled VGPRs") + statistic("Spilled SGPRs") + statistic("Scratch size");
    let stored = figures.stored();
    let memory = Kernel::of(source)
        .filter(|_| stored > 0)
        .map(|kernel| card.memory_cycles(kernel.moved(source, stored), lanes));
    let of_128 = |accesses| Figures::of_width(accesses, 16).to_string();
    let known = |number: Option<String>| number.unwrap_or_else(|| "-".to_owned());
    vec![
        statistic("VGPRs").to_string(),
        statistic("SGPRs").to_string(),
        spills.to_string(),
        waves.to_string(),
        statistic("Instructions").to_string(),
        figures.valu.to_string(),
        figures.quarter.to_string(),
        figures.salu.to_string(),
        figures.smem.to_string(),
        figures.loads.len().to_string(),
        of_128(&figures.loads),
        figures.stores.len().to_string(),
        of_128(&figures.stores),
        figures.rounds.to_string(),
        figures.scalar_rounds.to_string(),
        format!("{:.0}", card.in_flight(&figures, lanes, waves)),
        (stored * lanes).to_string(),
        figures.valu_cycles.to_string(),
        known(memory.map(|cycles| format!("{cycles:.0}"))),
        known(memory.map(|cycles| format!("{:.2}", f64::from(figures.valu_cycles) / cycles))),
    ]
}
