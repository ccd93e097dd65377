//! What the drivers of NVIDIA's, Apple's and Qualcomm's GPUs say of a pipeline.

use crate::vulkan::Compiled;

/// A driver of Mesa, and its statistics.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Driver {
    /// Part of the names of its devices.
    device: &'static str,
    /// What goes into the table.
    pub(crate) columns: &'static [&'static str],
    /// Those that count spills to memory.
    spills: &'static [&'static str],
}

const DRIVERS: [Driver; 3] = [
    Driver {
        device: "NVK",
        columns: &[
            "Instruction count",
            "Static cycle count",
            "Number of GPRs",
            "Max warps/SM",
            "Spills to reg",
            "Spills to memory",
            "SLM size",
        ],
        spills: &["Spills to memory", "SLM size"],
    },
    // IC: multiplications and other arithmetic of integers that is slow.
    Driver {
        device: "Apple",
        columns: &[
            "Instructions",
            "ALU",
            "IC",
            "GPRs",
            "Threads",
            "Spills",
            "Scratch",
            "Preamble instructions",
        ],
        spills: &["Spills", "Scratch"],
    },
    // STP and LDP: stores to memory of its own, and loads from there.
    Driver {
        device: "Adreno",
        columns: &[
            "Instruction Count",
            "NOPs Count",
            "Registers used",
            "Half-registers used",
            "Max Waves Per Core",
            "Instructions with SY sync bit",
            "STP Count",
            "LDP Count",
        ],
        spills: &["STP Count", "LDP Count"],
    },
];

impl Driver {
    /// By the name of the device.
    pub(crate) fn of(name: &str) -> Option<Driver> {
        DRIVERS
            .into_iter()
            .find(|driver| name.contains(driver.device))
    }

    pub(crate) fn cells(&self, compiled: &Compiled) -> Result<Vec<String>, String> {
        let cells = self.columns.iter();
        let cells = cells.map(|name| Ok(compiled.statistic(name)?.to_string()));
        cells.collect()
    }

    /// The limits that a pipeline exceeds.
    pub(crate) fn complaints(&self, compiled: &Compiled) -> Result<Vec<String>, String> {
        let mut complaints = Vec::new();
        for name in self.spills {
            let number = compiled.statistic(name)?;
            if number > 0.0 {
                complaints.push(format!("it spills: {name} {number}"));
            }
        }
        Ok(complaints)
    }
}
