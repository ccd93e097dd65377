//! wgpu's errors as ours. Every call that can fail runs in error scopes, so that nothing reaches
//! wgpu's handler for uncaptured errors, which panics by default.

use crate::error::{Error, Result};

/// Runs `work` in error scopes for validation, memory and internal errors.
///
/// The scopes are closed before anything is awaited: they belong to this thread.
pub(in crate::gpu) async fn scoped<T>(
    device: &wgpu::Device,
    what: &'static str,
    work: impl FnOnce() -> T,
) -> Result<T> {
    let scopes = Scopes::open(device);
    let value = work();
    let errors = scopes.close(what);
    errors.await.map(|()| value)
}

/// Open error scopes.
pub(in crate::gpu) struct Scopes {
    memory: wgpu::ErrorScopeGuard,
    internal: wgpu::ErrorScopeGuard,
    validation: wgpu::ErrorScopeGuard,
}

impl Scopes {
    pub(in crate::gpu) fn open(device: &wgpu::Device) -> Self {
        Scopes {
            memory: device.push_error_scope(wgpu::ErrorFilter::OutOfMemory),
            internal: device.push_error_scope(wgpu::ErrorFilter::Internal),
            validation: device.push_error_scope(wgpu::ErrorFilter::Validation),
        }
    }

    /// Closes the scopes now; the future is what the device has to say.
    pub(in crate::gpu) fn close(
        self,
        what: &'static str,
    ) -> impl Future<Output = Result<()>> + use<> {
        let validation = self.validation.pop();
        let internal = self.internal.pop();
        let memory = self.memory.pop();
        async move {
            // A failed allocation makes everything that uses the buffer invalid: name the cause
            // first.
            let errors = [memory.await, internal.await, validation.await];
            match errors.into_iter().flatten().next() {
                Some(error) => Err(typed(what, error)),
                None => Ok(()),
            }
        }
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
pub(in crate::gpu) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
