//! Scatters, as methods of the gathers that they are the transposes of.

use burn::backend::DispatchTensor;
use burn::tensor::{Int, Tensor};
use wgpu_gather::{Op, Reduce, Role, Rules};

use crate::error::{Error, Result};
use crate::gathers::described;
use crate::handle::Gathers;
use crate::kind::Kind;
use crate::queued::QueuedScatter;
use crate::versions::BurnTensor;

impl Gathers {
    /// Scatters `updates` over a copy of `base`, without waiting for the device: the transpose of the
    /// gather `op`, whose params have the shape of `base`, and whose output that of `updates`. So
    /// `Op::gather` stands for `scatter`, `Op::gather_nd` for `scatter_nd` and `Op::gather_elements`
    /// for `scatter_elements`.
    ///
    /// [`Reduce`] says what becomes of values that meet: the last one stays, or they are added,
    /// multiplied, or the least or greatest stays, together with what base had there. They are taken in
    /// the order of the indices, so the result has the same bits each time. Floats and integers have all
    /// of these, bools the first. An index that a gather would have read zeros or a fill value for writes
    /// nothing; one that is clipped or wrapped writes there. Under `OutOfBounds::Error`, a bad index
    /// writes nothing, and [`Gathers::check`] reports it.
    ///
    /// Inputs may be transposed, sliced or broadcast, and are read where they lie. The output is a tensor
    /// of its own: all of base is copied, however few the updates.
    ///
    /// On an autodiff device, [`Reduce::Add`] has the gradient of base and of updates. The others have
    /// none, and tensors that are tracked are an error there.
    ///
    /// ```no_run
    /// use burn::tensor::{Device, Int, Tensor};
    /// use wgpu_gather_burn::{Gathers, Op, Reduce, Rules};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (device, gathers) = Gathers::init(Device::wgpu_options())?;
    /// let base = Tensor::<2>::ones([3, 2], &device);
    /// let ids = Tensor::<1, Int>::from_ints([2, 0, 2], &device);
    /// let updates = Tensor::<2>::from_floats([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], &device);
    /// let sums = gathers.scatter(Op::gather(0), Reduce::Add, &Rules::TORCH, base, ids, updates)?;
    /// println!("{sums}"); // [[4, 5], [1, 1], [7, 9]]
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Gather`] for shapes, attributes and rules that do not fit, which calls base params;
    /// [`Error::OtherDevice`], [`Error::ElementType`], [`Error::MixedTypes`], [`Error::NoGradient`].
    /// Errors of the device are reported by [`Gathers::check`], and the output is zeros then.
    pub fn scatter<const D: usize, const DI: usize, const DU: usize, K: Kind>(
        &self,
        op: Op,
        reduce: Reduce,
        rules: &Rules,
        base: impl BurnTensor<D, K>,
        indices: impl BurnTensor<DI, Int>,
        updates: impl BurnTensor<DU, K>,
    ) -> Result<Tensor<D, K>> {
        let (base, indices, updates) = (base.tensor(), indices.tensor(), updates.tensor());
        let kind = op.transposed_kind();
        self.check_device(kind, Role::Params, &base.device())?;
        self.check_device(kind, Role::Indices, &indices.device())?;
        self.check_device(kind, Role::Updates, &updates.device())?;
        let tensors = [described(&base), described(&indices), described(&updates)];
        let call = QueuedScatter::new(self, op, reduce, rules, tensors)?;
        let tracked = [
            (Role::Params, K::is_tracked(&base)),
            (Role::Updates, K::is_tracked(&updates)),
        ];
        for (role, is_tracked) in tracked {
            if is_tracked && reduce != Reduce::Add {
                return Err(Error::NoGradient {
                    op: kind,
                    role,
                    what: format!("reduce = {reduce}"),
                });
            }
        }
        let output: DispatchTensor = K::scatter(
            base.into_dispatch(),
            indices.into_dispatch(),
            updates.into_dispatch(),
            call,
        );
        Ok(Tensor::from_dispatch(output))
    }
}
