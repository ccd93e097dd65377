//! What a gather took on a device.

use anyhow::Result;

use crate::bench::case::Scaled;
use crate::bench::result::Figures;
use crate::bench::run_gpu::{Aside, Gpu};
use crate::explain::args::ExplainArgs;
use crate::explain::cost::Cost;

/// A gather that was measured.
pub(crate) struct Measured {
    pub(crate) adapter: String,
    pub(crate) figures: Figures,
}

impl Measured {
    /// Measures a gather as `args` say.
    pub(crate) fn new(scaled: &Scaled, args: &ExplainArgs) -> Result<Self> {
        let gpu = Gpu::open(args.adapter.as_deref(), Aside::default())?;
        Ok(Measured {
            adapter: gpu.place().label(),
            figures: gpu.run(scaled, args.seconds)?,
        })
    }

    /// How fast the gather was in parts of what `cost` gives as the limit.
    pub(crate) fn of_limit(&self, cost: &Cost) -> Option<f64> {
        let limit = cost.bandwidth? / 1e9;
        Some(self.figures.gb_per_s / limit)
    }

    /// The same for people, in lines.
    pub(crate) fn text(&self, cost: &Cost) -> String {
        let figures = &self.figures;
        let mut text = format!("measured    {} ms on {}\n", figures.median_ms, self.adapter);
        text += &format!(
            "            {:.1} GB/s, {:.2} of a copy of as many bytes in the same run ({:.1} GB/s)\n",
            figures.gb_per_s, figures.fraction, figures.copy_gb_per_s
        );
        if let Some(fraction) = self.of_limit(cost) {
            text += &format!("            {fraction:.2} of the limit\n");
        }
        text
    }
}
