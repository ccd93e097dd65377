//! A device, and what its compiler makes of pipelines.

use std::error::Error;

use wgpu_gather::gpu::internals::PipelineSource;

use crate::amd::{self, Wave};
use crate::cards::Card;
use crate::drivers::Driver;
use crate::spirv::Shader;
use crate::table::{Line, Table};
use crate::vulkan::{Compiled, Device};

pub(crate) struct Bench {
    device: Device,
    gpu: Gpu,
}

enum Gpu {
    Amd(Card),
    Other(Driver),
}

/// A pipeline's line in the table, and the limits that it exceeds.
#[derive(Debug, Clone)]
pub(crate) struct Measured {
    pub(crate) line: Line,
    pub(crate) complaints: Vec<String>,
}

impl Bench {
    pub(crate) fn new() -> Result<Self, Box<dyn Error>> {
        let device = Device::new()?;
        let name = &device.name;
        let other = || Driver::of(name).map(Gpu::Other);
        let gpu = Card::of(name).map(Gpu::Amd).or_else(other);
        let gpu = gpu.ok_or_else(|| format!("nothing is known of {name}"))?;
        Ok(Bench { device, gpu })
    }

    pub(crate) fn is_amd(&self) -> bool {
        matches!(self.gpu, Gpu::Amd(_))
    }

    /// The table without lines.
    pub(crate) fn empty_table(&self) -> Table {
        let columns = match self.gpu {
            Gpu::Amd(_) => &amd::COLUMNS,
            Gpu::Other(driver) => driver.columns,
        };
        Table {
            device: self.device.name.clone(),
            driver: self.device.driver.clone(),
            columns: columns.iter().map(|&name| name.to_owned()).collect(),
            lines: Vec::new(),
        }
    }

    /// With the texts of the driver, if asked for.
    pub(crate) fn compile(&self, source: &PipelineSource, texts: bool) -> Result<Compiled, String> {
        let compiled = Shader::new(source).and_then(|shader| {
            let compiled = self.device.compile(&shader, texts);
            compiled.map_err(|e| e.to_string())
        });
        compiled.map_err(|e| format!("{}: {e}", source.name))
    }

    pub(crate) fn measure(&self, source: &PipelineSource) -> Result<Measured, String> {
        let compiled = self.compile(source, self.is_amd())?;
        let (cells, complaints) = match &self.gpu {
            Gpu::Amd(card) => {
                let wave = Wave::new(card, source, &compiled)?;
                (wave.cells(), wave.complaints())
            }
            Gpu::Other(driver) => (driver.cells(&compiled)?, driver.complaints(&compiled)?),
        };
        let pipeline = source.name.clone();
        Ok(Measured {
            line: Line { pipeline, cells },
            complaints,
        })
    }
}
