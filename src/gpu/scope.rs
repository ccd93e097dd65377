//! wgpu's errors as ours. Every call that can fail runs in error scopes, so that nothing reaches
//! wgpu's handler for uncaptured errors, which panics by default.

use crate::error::{Error, Result};

/// Runs `work` in error scopes for validation, memory and internal errors.
///
/// The scopes are closed before anything is awaited: they belong to this thread.
pub(super) async fn scoped<T>(
    device: &wgpu::Device,
    what: &'static str,
    work: impl FnOnce() -> T,
) -> Result<T> {
    let (value, errors) = {
        let memory = device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let internal = device.push_error_scope(wgpu::ErrorFilter::Internal);
        let validation = device.push_error_scope(wgpu::ErrorFilter::Validation);
        let value = work();
        let validation = validation.pop();
        let internal = internal.pop();
        (value, (memory.pop(), internal, validation))
    };
    let (memory, internal, validation) = errors;
    // A failed allocation makes everything that uses the buffer invalid: name the cause first.
    let errors = [memory.await, internal.await, validation.await];
    match errors.into_iter().flatten().next() {
        Some(error) => Err(typed(what, error)),
        None => Ok(value),
    }
}

/// [`scoped`] for calls that cannot await. On native targets wgpu answers at once; a browser
/// answers later, so there `work` must be checked before it is done.
pub(super) fn scoped_now<T>(
    device: &wgpu::Device,
    what: &'static str,
    work: impl FnOnce() -> T,
) -> Result<T> {
    #[cfg(not(target_arch = "wasm32"))]
    return pollster::block_on(scoped(device, what, work));
    #[cfg(target_arch = "wasm32")]
    {
        let (_, _) = (device, what);
        Ok(work())
    }
}

fn typed(what: &'static str, error: wgpu::Error) -> Error {
    match error {
        wgpu::Error::OutOfMemory { .. } => Error::GpuOutOfMemory {
            what: what.to_owned(),
        },
        wgpu::Error::Validation { description, .. } | wgpu::Error::Internal { description, .. } => {
            let reason = one_line(&description);
            if description.contains("is lost") {
                Error::DeviceLost { reason }
            } else {
                Error::Gpu { what, reason }
            }
        }
    }
}

/// wgpu words its errors over several indented lines.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
