//! Pooled lookups, as methods of the gathers that they start as.

use burn::backend::{Dispatch, DispatchTensor};
use burn::tensor::{Float, Int, Tensor};
use wgpu_gather::{Bags, OpKind, Role, Rules};

use crate::backend::GatherBackend;
use crate::error::{Error, Result};
use crate::gathers::described;
use crate::handle::Gathers;
use crate::kind::{Kind, Number};
use crate::queued::QueuedBags;
use crate::versions::BurnTensor;

const OP: OpKind = OpKind::EmbeddingBag;

impl Gathers {
    /// Pools rows of a table, without waiting for the device: each bag of indices becomes one row of the
    /// output, the sum, mean or maximum of the rows of `params` that they select, in their order, and no
    /// tensor of all rows is made (`torch.nn.functional.embedding_bag`).
    ///
    /// [`Bags`] says which indices form a bag: each row of indices of rank 2, or those between offsets,
    /// which come from the host. An empty bag gives zeros. Integers have sums and maxima. A bad index
    /// counts with the row that a gather would have made for it, and under `OutOfBounds::Error`
    /// [`Gathers::check`] reports it.
    ///
    /// Inputs may be transposed, sliced or broadcast, and are read where they lie. There is no gradient:
    /// tensors that burn's autodiff tracks are an error.
    ///
    /// ```no_run
    /// use burn::tensor::{Device, Int, Tensor};
    /// use wgpu_gather_burn::{BagMode, Bags, Gathers, Rules};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (device, gathers) = Gathers::init(Device::wgpu_options())?;
    /// let table = Tensor::<2>::from_floats([[0.0, 1.0], [10.0, 11.0], [20.0, 21.0]], &device);
    /// let ids = Tensor::<1, Int>::from_ints([1, 2, 2, 0], &device);
    /// // the bags 1, 2 and none and 2, 0, of which 0 stands for nothing
    /// let bags = Bags::offsets(BagMode::Sum, &[0, 2, 2]).with_padding_index(0);
    /// let sums = gathers.embedding_bag(bags, &Rules::TORCH, table, ids)?;
    /// println!("{sums}"); // [[30, 32], [0, 0], [20, 21]]
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Gather`] for bags, shapes, types and rules that do not fit; [`Error::OtherDevice`],
    /// [`Error::ElementType`], [`Error::NoGradient`]. Errors of the device are reported by
    /// [`Gathers::check`], and the output is zeros then.
    pub fn embedding_bag<const DP: usize, const DI: usize, K: Number>(
        &self,
        bags: Bags<'_>,
        rules: &Rules,
        params: impl BurnTensor<DP, K>,
        indices: impl BurnTensor<DI, Int>,
    ) -> Result<Tensor<DP, K>> {
        let (params, indices) = (params.tensor(), indices.tensor());
        self.check_pooled(Role::Params, &params)?;
        self.check_device(OP, Role::Indices, &indices.device())?;
        let tensors = [&described(&params), &described(&indices)];
        let call = QueuedBags::new(self, bags, rules, tensors, None)?;
        let output: DispatchTensor = K::pool(params.into_dispatch(), indices.into_dispatch(), call);
        Ok(Tensor::from_dispatch(output))
    }

    /// [`Gathers::embedding_bag`] with a weight for each index, which its row is multiplied by: sums
    /// only. A product and its addition may be rounded once or twice, which depends on the device.
    ///
    /// # Errors
    ///
    /// As [`Gathers::embedding_bag`]; [`Error::MixedTypes`] for weights of another type than the table.
    pub fn embedding_bag_weighted<const DP: usize, const DI: usize>(
        &self,
        bags: Bags<'_>,
        rules: &Rules,
        params: impl BurnTensor<DP, Float>,
        indices: impl BurnTensor<DI, Int>,
        weights: impl BurnTensor<DI, Float>,
    ) -> Result<Tensor<DP>> {
        let (params, indices, weights) = (params.tensor(), indices.tensor(), weights.tensor());
        self.check_pooled(Role::Params, &params)?;
        self.check_device(OP, Role::Indices, &indices.device())?;
        self.check_pooled(Role::Weights, &weights)?;
        let tensors = [&described(&params), &described(&indices)];
        let call = QueuedBags::new(self, bags, rules, tensors, Some(&described(&weights)))?;
        let output: DispatchTensor = Dispatch::bags_weighted(
            params.into_dispatch(),
            indices.into_dispatch(),
            weights.into_dispatch(),
            call,
        );
        Ok(Tensor::from_dispatch(output))
    }

    /// Refuses a tensor of another device, and one that needs a gradient.
    fn check_pooled<const D: usize, K: Kind>(
        &self,
        role: Role,
        tensor: &Tensor<D, K>,
    ) -> Result<()> {
        self.check_device(OP, role, &tensor.device())?;
        match K::is_tracked(tensor) {
            false => Ok(()),
            true => Err(Error::NoGradient {
                op: OP,
                role,
                what: "a pooled lookup".to_owned(),
            }),
        }
    }
}
