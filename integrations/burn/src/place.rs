//! Where tensors of burn lie on the device, and memory for outputs beside them.
//!
//! Asking burn for a buffer makes it submit what it has recorded for the tensor: see `launch`.

use burn_cubecl::cubecl::client::Client;
use burn_cubecl::cubecl::server::{BufferBinding, Handle};
use burn_cubecl::cubecl::wgpu::{AutoCompiler, WgpuResource, WgpuServer};
use burn_cubecl::tensor::CubeTensor;
use wgpu_gather::gpu::AnyDeviceTensor;
use wgpu_gather::{ElementType, Layout, OpKind, Role};

use crate::error::{Error, Result};
use crate::output::{Memory, allocate};

/// Where a tensor of burn lies.
pub(crate) struct Place {
    resource: WgpuResource,
    /// While this is held, burn neither moves the tensor nor gives its memory to others.
    _binding: BufferBinding,
}

impl Place {
    /// Submits what burn has recorded for the tensor, on its stream and the calling thread's.
    fn of(client: &Client, handle: &Handle, op: OpKind, role: Role) -> Result<Place> {
        let binding = handle.clone().binding();
        let found = client.get_resource::<WgpuServer<AutoCompiler>>(handle.clone());
        let resource = found.map_err(|error| Error::Buffer {
            op,
            role,
            message: error.to_string(),
        })?;
        Ok(Place {
            resource: resource.resource().clone(),
            _binding: binding,
        })
    }

    pub(crate) fn wrap(
        &self,
        element: impl Into<ElementType>,
        layout: Layout,
    ) -> Result<AnyDeviceTensor> {
        let WgpuResource {
            buffer,
            offset,
            size,
            ..
        } = &self.resource;
        // wgpu has no empty slices. Nothing is read from a tensor without elements.
        let slice = match layout.is_empty() {
            true => buffer.slice(..),
            false => buffer.slice(*offset..offset + size),
        };
        Ok(AnyDeviceTensor::wrap(slice, element, layout)?)
    }

    fn shares(&self, other: &Place) -> bool {
        self.resource.buffer == other.resource.buffer
    }
}

/// An input, held until what reads it is submitted.
pub(crate) struct Held {
    place: Place,
    layout: Layout,
    /// burn writes in place to tensors that it alone holds.
    _handle: Handle,
}

impl Held {
    pub(crate) fn new(tensor: CubeTensor, op: OpKind, role: Role) -> Result<Held> {
        Ok(Held {
            place: Place::of(&tensor.client, &tensor.handle, op, role)?,
            layout: layout(&tensor)?,
            _handle: tensor.handle,
        })
    }

    /// As a tensor of elements of this type: that which a call takes them for.
    pub(crate) fn tensor(&self, element: impl Into<ElementType>) -> Result<AnyDeviceTensor> {
        self.place.wrap(element, self.layout.clone())
    }

    /// A tensor without elements, where this one lies.
    pub(crate) fn nothing(
        &self,
        element: impl Into<ElementType>,
        shape: &[usize],
    ) -> Result<AnyDeviceTensor> {
        self.place.wrap(element, Layout::contiguous(shape))
    }

    /// Some word of the buffer that this tensor lies in, `count` times: for who reads it, and needs none.
    #[cfg(feature = "autodiff")]
    pub(crate) fn any_word(&self, count: usize) -> Result<AnyDeviceTensor> {
        let repeated = Layout::strided(&[count], &[0], 0)?;
        let buffer = self.place.resource.buffer.slice(..);
        Ok(AnyDeviceTensor::wrap(
            buffer,
            wgpu_gather::DType::U32,
            repeated,
        )?)
    }
}

/// Shape and strides of a tensor.
pub(crate) fn layout(tensor: &CubeTensor) -> Result<Layout> {
    let strides = tensor.meta.strides().iter();
    let strides: Vec<isize> = strides.map(|&stride| stride as isize).collect();
    Ok(Layout::strided(
        tensor.meta.shape().as_slice(),
        &strides,
        0,
    )?)
}

/// Memory for an output of so many bytes, in another buffer than the inputs: one that is read cannot be
/// written to in the same dispatch.
pub(crate) fn apart(
    client: &Client,
    bytes: usize,
    inputs: &[&Held],
    op: OpKind,
) -> Result<(Handle, Place)> {
    let make = |memory| {
        let handle = allocate(client, bytes, memory);
        let place = Place::of(client, &handle, op, Role::Output)?;
        Ok((handle, place))
    };
    let (handle, place) = make(Memory::Reused)?;
    match inputs.iter().any(|held| held.place.shares(&place)) {
        true => make(Memory::Own),
        false => Ok((handle, place)),
    }
}
