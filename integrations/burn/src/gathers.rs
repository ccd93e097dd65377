//! The face of the crate: an engine on burn's device, and what its gathers have to report.

use std::sync::Arc;

use burn::backend::DispatchTensor;
use burn::tensor::wgpu::WgpuSetup;
use burn::tensor::{Device, Int, Tensor, TensorData};
use wgpu_gather::gpu::Engine;
use wgpu_gather::{Op, OpKind, Role, Rules};

use crate::call::Call;
use crate::elements::Described;
use crate::error::{Error, Result};
use crate::kind::Kind;
use crate::reports::Reports;
use crate::versions::{BurnOptions, BurnSetup, BurnTensor};

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
    /// Initialises a device of burn, and gathers on it. Native targets only, as burn's own `init`.
    ///
    /// Once for a device: burn opens it before it finds that it runs on it already, and on GL, wgpu may
    /// panic over a second context while another thread uses the first.
    ///
    /// # Errors
    ///
    /// [`Error::Device`] with burn's words: no adapter, or a device that burn already runs on, as burn
    /// does not hand out the wgpu device of one; [`Error::Gather`] names a limit of the device that is
    /// too low.
    pub fn init(options: impl BurnOptions) -> Result<(Device, Gathers)> {
        let made = options.options().init_with_setup();
        let (device, setup) = made.map_err(device_error)?;
        Gathers::of(device, setup)
    }

    /// Makes a device of burn on a wgpu device of the application's, and gathers on it. A setup is given
    /// to burn once: its device is cloned from then on.
    ///
    /// # Errors
    ///
    /// As [`Gathers::init`].
    pub fn share(options: impl BurnOptions, setup: impl BurnSetup) -> Result<(Device, Gathers)> {
        let setup = setup.setup();
        let made = options.options().setup(setup.clone()).init();
        Gathers::of(made.map_err(device_error)?, setup)
    }

    fn of(device: Device, setup: WgpuSetup) -> Result<(Device, Gathers)> {
        let engine = pollster::block_on(Engine::new(setup.device, setup.queue))?;
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

    /// Gathers into a new tensor, without waiting for the device and without a copy: `gather`,
    /// `gather_nd` or `gather_elements`, as `op` says. [`Op`] has shapes and pictures, [`Rules`] what
    /// negative and out-of-range indices give.
    ///
    /// Inputs may be transposed, sliced or broadcast. Under fusion, the call is queued like burn's own
    /// and runs when burn executes its queue; the operators before it are not fused with those behind it.
    /// On an autodiff device, the gradient goes through it.
    ///
    /// Under `OutOfBounds::Error`, a bad index leaves zeros, and [`Gathers::check`] reports it.
    ///
    /// # Errors
    ///
    /// [`Error::Gather`] for shapes, attributes and rules that do not fit; [`Error::OutputRank`],
    /// [`Error::OtherDevice`], [`Error::ElementType`]. Errors of the device are reported by
    /// [`Gathers::check`], and the output is zeros then.
    pub fn gather<const DP: usize, const DI: usize, const DO: usize, K: Kind>(
        &self,
        op: Op,
        rules: &Rules,
        params: impl BurnTensor<DP, K>,
        indices: impl BurnTensor<DI, Int>,
    ) -> Result<Tensor<DO, K>> {
        let (params, indices) = (params.tensor(), indices.tensor());
        self.check_device(op.kind(), Role::Params, &params.device())?;
        self.check_device(op.kind(), Role::Indices, &indices.device())?;
        let call = Call::new(self, op, rules, &described(&params), &described(&indices))?;
        if call.output_shape.len() != DO {
            return Err(Error::OutputRank {
                op: op.kind(),
                got: DO,
                rank: call.output_shape.len(),
                shape: call.output_shape,
            });
        }
        let output: DispatchTensor =
            K::gather(params.into_dispatch(), indices.into_dispatch(), call);
        Ok(Tensor::from_dispatch(output))
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

    /// Reads a tensor to the host, once [`Gathers::check`] has nothing to report.
    ///
    /// # Errors
    ///
    /// As [`Gathers::check`].
    pub fn read<const D: usize, K: Kind>(&self, tensor: Tensor<D, K>) -> Result<TensorData> {
        let data = tensor.try_into_data().map_err(device_error);
        self.check()?;
        data
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

pub(crate) fn described<const D: usize, K: Kind>(tensor: &Tensor<D, K>) -> Described {
    Described {
        shape: tensor.dims().to_vec(),
        dtype: tensor.dtype(),
    }
}

fn device_error(error: impl std::fmt::Display) -> Error {
    Error::Device {
        message: error.to_string(),
    }
}
