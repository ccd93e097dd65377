//! What AMD's GPUs execute, by the assembly of Mesa's compiler.

use wgpu_gather::gpu::internals::PipelineSource;

use crate::cards::Card;
use crate::figures::Figures;
use crate::kernels::Kernel;
use crate::vulkan::Compiled;

pub(crate) const COLUMNS: [&str; 19] = [
    "VGPRs",
    "spills",
    "waves",
    "code",
    "VALU",
    "x4",
    "SALU",
    "SMEM",
    "loads",
    "128-bit",
    "stores",
    "128-bit",
    "waits",
    "scalar waits",
    "KiB in flight",
    "bytes out",
    "VALU cycles",
    "memory cycles",
    "ratio",
];

/// What a pipeline is on a card.
#[derive(Debug)]
pub(crate) struct Wave<'a> {
    source: &'a PipelineSource,
    lanes: u32,
    vgprs: f64,
    spills: f64,
    instructions: f64,
    /// Of a SIMD.
    waves: f64,
    kib_in_flight: f64,
    figures: Figures,
    /// Cycles in which memory moves what it moves; `None`, if it copies nothing.
    memory_cycles: Option<f64>,
}

impl<'a> Wave<'a> {
    pub(crate) fn new(
        card: &Card,
        source: &'a PipelineSource,
        compiled: &Compiled,
    ) -> Result<Self, String> {
        let lanes = compiled.lanes;
        let figures = Figures::new(compiled.assembly(), card.generation, lanes);
        let vgprs = compiled.statistic("VGPRs")?;
        let waves = card.occupancy(lanes, vgprs);
        let kernel = Kernel::of(source).ok().flatten();
        let moved = kernel.map(|kernel| kernel.moved(source, figures.stored()));
        Ok(Wave {
            source,
            lanes,
            vgprs,
            spills: compiled.statistic("Spilled VGPRs")?
                + compiled.statistic("Spilled SGPRs")?
                + compiled.statistic("Scratch size")?,
            instructions: compiled.statistic("Instructions")?,
            waves,
            kib_in_flight: card.in_flight(&figures, lanes, waves),
            figures,
            memory_cycles: moved.map(|bytes| card.memory_cycles(bytes, lanes)),
        })
    }

    /// To two digits, as in the table.
    fn ratio(&self) -> Option<f64> {
        let ratio = f64::from(self.figures.valu_cycles) / self.memory_cycles?;
        Some((ratio * 100.0).round() / 100.0)
    }

    pub(crate) fn cells(&self) -> Vec<String> {
        let f = &self.figures;
        let known = |number: Option<String>| number.unwrap_or_else(|| "-".to_owned());
        vec![
            self.vgprs.to_string(),
            self.spills.to_string(),
            self.waves.to_string(),
            self.instructions.to_string(),
            f.valu.to_string(),
            f.quarter.to_string(),
            f.salu.to_string(),
            f.smem.to_string(),
            f.loads.len().to_string(),
            of_width(&f.loads, 16).to_string(),
            f.stores.len().to_string(),
            of_width(&f.stores, 16).to_string(),
            f.waits.to_string(),
            f.scalar_waits.to_string(),
            format!("{:.0}", self.kib_in_flight),
            (f.stored() * self.lanes).to_string(),
            f.valu_cycles.to_string(),
            known(self.memory_cycles.map(|cycles| format!("{cycles:.0}"))),
            known(self.ratio().map(|ratio| format!("{ratio:.2}"))),
        ]
    }

    /// The limits that it exceeds.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let (source, f) = (self.source, &self.figures);
        let mut complaints = Vec::new();
        let mut limit = |exceeded: bool, complaint: String| {
            if exceeded {
                complaints.push(complaint);
            }
        };
        limit(self.spills > 0.0, format!("it spills {}", self.spills));
        let kernel = match Kernel::of(source) {
            Ok(Some(kernel)) => kernel,
            Ok(None) => return complaints,
            Err(unknown) => {
                complaints.push(unknown);
                return complaints;
            }
        };
        let general = source.loops.is_none();
        let (load, store) = kernel.widths(source);
        let stored = f.stored();
        limit(stored == 0, "it stores nothing".to_owned());
        let wide = of_width(&f.stores, store) as u32 * store;
        limit(
            wide < stored,
            format!("of {stored} bytes, stores of {store} make {wide}"),
        );
        if !general {
            // In the others, a place in a fill value takes divisions.
            limit(f.divisions > 0, format!("divisions: {}", f.divisions));
            let wide = of_width(&f.loads, load) as u32 * load;
            limit(
                f64::from(wide) < kernel.read(stored),
                format!("of {stored} bytes, loads of {load} bring {wide}"),
            );
        }
        let limits = kernel.limits();
        if source.segments == 0 {
            let most = match general {
                true => limits.general_ratio,
                false => limits.ratio,
            };
            let ratio = self.ratio().unwrap_or(0.0);
            limit(ratio > most, format!("the ratio is {ratio}, not {most}"));
        }
        if !general {
            let (waits, most) = (f.waits, limits.waits);
            limit(
                waits > most,
                format!("it waits {waits} times in turn, not {most}"),
            );
        }
        complaints
    }
}

/// How many of some accesses are of so many bytes.
fn of_width(accesses: &[u32], bytes: u32) -> usize {
    accesses.iter().filter(|&&b| b == bytes).count()
}
