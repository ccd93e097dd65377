//! What the calls of an executor share: `wait` blocks, `.await` does not, and the CPU path makes what a device
//! has no memory for. Each call has a `make` of its own.

#[cfg(feature = "gpu")]
use crate::error::Result;
#[cfg(feature = "gpu")]
use crate::gpu::Engine;

/// `wait` and `.await` for a call that `async fn make` makes, given its executor and itself without the type of the
/// table, whose errors are those of `$verb`.
///
/// That a future may move to another thread follows from what it holds, down to the last type of wgpu. Compilers
/// keep what they have found, but not where a type parameter has a lifetime (`T: 'a`): there it takes them seconds
/// for each function. So nothing of a table's own type is in a future.
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
                let made = make::<$table::Element, _>(self.executor, self.call, PollMode::Here);
                $crate::waiting::block_on(made)
            }
        }

        impl<'a, $table: $bound> IntoFuture for $call<'a, $table> {
            type Output = Result<$table::Output>;
            type IntoFuture = BoxFuture<'a, Self::Output>;

            fn into_future(self) -> Self::IntoFuture {
                Box::pin(make::<$table::Element, _>(
                    self.executor,
                    self.call,
                    PollMode::Aside,
                ))
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
