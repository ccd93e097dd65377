//! The face of the crate: opening a device, gathers, and reading what they made.

use burn::backend::DispatchTensor;
use burn::tensor::{Device, Int, Tensor, TensorData};
use wgpu_gather::{Op, Role, Rules};

use crate::elements::Described;
use crate::error::{Error, Result};
use crate::handle::{Gathers, device_error};
use crate::kind::Kind;
use crate::queued::QueuedGather;
use crate::versions::{BurnOptions, BurnSetup, BurnTensor};

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
        let call = QueuedGather::new(self, op, rules, &described(&params), &described(&indices))?;
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
}

pub(crate) fn described<const D: usize, K: Kind>(tensor: &Tensor<D, K>) -> Described {
    Described {
        shape: tensor.dims().to_vec(),
        dtype: tensor.dtype(),
    }
}
