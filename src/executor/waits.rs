//! What the calls of an executor share: `wait` blocks, `.await` does not, and the CPU path makes what a device
//! has no memory for. Each call has a `make` of its own.

#[cfg(feature = "gpu")]
use crate::error::Result;
#[cfg(feature = "gpu")]
use crate::gpu::Engine;

/// `wait` and `.await` for a call that has `async fn make(self, poll_mode) -> Result<T::Output>`, whose errors
/// are those of `$verb`.
macro_rules! waits {
    ($call:ident<$table:ident: $bound:ident>, $verb:literal) => {
        impl<$table: $bound> $call<'_, $table> {
            /// Makes the call, blocking this thread. In a browser nothing may block, so there it does not exist.
            ///
            /// # Errors
            ///
            #[doc = concat!("As ", $verb, ".")]
            #[cfg(not(target_arch = "wasm32"))]
            pub fn wait(self) -> Result<$table::Output> {
                $crate::waiting::block_on(self.make(PollMode::Here))
            }
        }

        impl<'a, $table: $bound + 'a> IntoFuture for $call<'a, $table> {
            type Output = Result<$table::Output>;
            type IntoFuture = BoxFuture<'a, Self::Output>;

            fn into_future(self) -> Self::IntoFuture {
                Box::pin(self.make(PollMode::Aside))
            }
        }
    };
}

pub(super) use waits;

/// What the device of `engine` made; or what `on_the_cpu` makes, if the device had no memory and the engine's
/// options do not say to fail then.
#[cfg(feature = "gpu")]
pub(super) fn or_on_the_cpu<T>(
    engine: &Engine,
    made: Result<T>,
    on_the_cpu: impl FnOnce() -> Result<T>,
) -> Result<T> {
    match made {
        Err(error) if engine.falls_back(&error) => on_the_cpu(),
        made => made,
    }
}
