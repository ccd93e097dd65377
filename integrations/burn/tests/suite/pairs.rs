//! A tensor on a device of burn and the same on the host, and how they are compared.

use burn::tensor::{Bool, Element, Float, Int, Tensor};
use wgpu_gather::Fill;
use wgpu_gather_burn::Kind;

use crate::kit::ints;

pub(crate) const ROWS: usize = 12;
pub(crate) const COLUMNS: usize = 20;
pub(crate) const SHAPE: [usize; 2] = [ROWS, COLUMNS];

/// A tensor on the device and what it must be.
#[derive(Clone)]
pub(crate) struct Pair<K: Kind> {
    pub(crate) device: Tensor<2, K>,
    pub(crate) host: Tensor<2, K>,
}

/// The values of a kind, as bits to compare.
pub(crate) trait Values: Kind {
    type Value: wgpu_gather::HasDType + Element + PartialEq;

    fn values(tensor: &Tensor<2, Self>) -> Vec<Self::Value>;
    fn bits(tensor: &Tensor<2, Self>) -> Vec<u32>;
    /// Something to fill with, where the host and the device have the same elements.
    fn fill() -> Option<Fill>;
}

impl Values for Float {
    type Value = f32;

    fn values(tensor: &Tensor<2>) -> Vec<f32> {
        tensor.to_data().iter::<f32>().collect()
    }

    fn bits(tensor: &Tensor<2>) -> Vec<u32> {
        tensor.to_data().iter::<f32>().map(f32::to_bits).collect()
    }

    fn fill() -> Option<Fill> {
        Some(Fill::new(77.0f32))
    }
}

impl Values for Int {
    type Value = i32;

    fn values(tensor: &Tensor<2, Int>) -> Vec<i32> {
        ints(tensor)
    }

    fn bits(tensor: &Tensor<2, Int>) -> Vec<u32> {
        ints(tensor).into_iter().map(|value| value as u32).collect()
    }

    fn fill() -> Option<Fill> {
        Some(Fill::new(-3i32))
    }
}

impl Values for Bool {
    type Value = bool;

    fn values(tensor: &Tensor<2, Bool>) -> Vec<bool> {
        tensor.to_data().iter::<bool>().collect()
    }

    fn bits(tensor: &Tensor<2, Bool>) -> Vec<u32> {
        tensor.to_data().iter::<bool>().map(u32::from).collect()
    }

    fn fill() -> Option<Fill> {
        None
    }
}

impl<K: Values> Pair<K> {
    /// One of burn's operators, on both.
    pub(crate) fn map<L: Kind>(&self, f: impl Fn(Tensor<2, K>) -> Tensor<2, L>) -> Pair<L> {
        Pair {
            device: f(self.device.clone()),
            host: f(self.host.clone()),
        }
    }

    pub(crate) fn with<L: Kind, M: Kind>(
        &self,
        other: &Pair<L>,
        f: impl Fn(Tensor<2, K>, Tensor<2, L>) -> Tensor<2, M>,
    ) -> Pair<M> {
        Pair {
            device: f(self.device.clone(), other.device.clone()),
            host: f(self.host.clone(), other.host.clone()),
        }
    }

    /// Whether both have the same bits.
    pub(crate) fn agree(&self) -> bool {
        self.device.dims() == self.host.dims() && K::bits(&self.device) == K::bits(&self.host)
    }
}
