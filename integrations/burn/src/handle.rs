//! An engine on burn's device, and what its gathers have to report.

use std::sync::Arc;

use burn::tensor::Device;
use burn::tensor::wgpu::WgpuSetup;
use wgpu_gather::gpu::Engine;
use wgpu_gather::{OpKind, Role};

use crate::error::{Error, Result};
use crate::reports::Reports;

/// Gathers, scatters and pooled lookups on the tensors of one device of burn. Cheap to clone; may be used
/// from several threads at once. There should be one for a device: each has compiled shaders of its own.
///
/// ```no_run
/// use burn::tensor::{Device, Int, Tensor};
/// use wgpu_gather_burn::{Gathers, Op, Rules};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (device, gathers) = Gathers::init(Device::wgpu_options())?;
/// let table = Tensor::<2>::from_floats([[0.5, 1.5], [2.5, 3.5], [4.5, 5.5]], &device);
/// let ids = Tensor::<2, Int>::from_ints([[2, 0], [1, 7]], &device);
///
/// // There is no row 7: zeros, as TensorFlow has it on GPUs.
/// let rows: Tensor<3> = gathers.gather(Op::gather(0), &Rules::TENSORFLOW_GPU, table, ids)?;
/// assert_eq!(rows.dims(), [2, 2, 2]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Gathers(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    device: Device,
    engine: Engine,
    reports: Reports,
}

impl Gathers {
    /// Gathers on a device that burn has made of `setup`.
    pub(crate) fn of(device: Device, setup: WgpuSetup) -> Result<(Device, Gathers)> {
        let engine = Engine::new(setup.device, setup.queue).wait()?;
        let gathers = Gathers(Arc::new(Inner {
            device: device.clone(),
            engine,
            reports: Reports::default(),
        }));
        Ok((device, gathers))
    }

    /// The same gathers with reports of their own: for a part of a program that asks for what went wrong
    /// in its own gathers only.
    pub fn with_own_reports(&self) -> Gathers {
        Gathers(Arc::new(Inner {
            device: self.0.device.clone(),
            engine: self.0.engine.clone(),
            reports: Reports::default(),
        }))
    }

    /// The engine, for gathers on buffers of the application's.
    pub fn engine(&self) -> &Engine {
        &self.0.engine
    }

    /// Waits for the gathers that the calling thread has made, and reports what went wrong in any that
    /// has run by now: the earliest bad index under `OutOfBounds::Error`, an error of the device. Call it
    /// again for what went wrong after that. What was reported, or was good, is not looked at again.
    ///
    /// Gathers under the error rule should be checked from time to time: until then each keeps its
    /// output's buffer. Of more than 1,024, the oldest are checked by the calls themselves, which wait
    /// for it; what they find is kept.
    ///
    /// # Errors
    ///
    /// [`Error::Gather`] with `IndexOutOfBounds`, which names the first bad index and says how many
    /// there are, or with an error of the device; [`Error::Capturing`], [`Error::Buffer`],
    /// [`Error::Device`].
    pub fn check(&self) -> Result<()> {
        self.0.device.sync().map_err(device_error)?;
        self.0.reports.first(&self.0.engine)
    }

    pub(crate) fn reports(&self) -> &Reports {
        &self.0.reports
    }

    pub(crate) fn check_device(&self, op: OpKind, role: Role, device: &Device) -> Result<()> {
        if *device == self.0.device {
            return Ok(());
        }
        Err(Error::OtherDevice {
            op,
            role,
            got: format!("{device:?}"),
            allowed: format!("{:?}", self.0.device),
        })
    }
}

pub(crate) fn device_error(error: impl std::fmt::Display) -> Error {
    Error::Device {
        message: error.to_string(),
    }
}
