//! Tables that outgrow a machine: each rank of an MPI program has a part of the rows; ids travel, rows
//! come back.
//!
//! [`ShardedTable::gather`] is a collective: every rank calls it with its own indices, and gets its own
//! output, which has the bits of a gather from the whole table. Who owns a row and what goes to whom is
//! the library's `ShardPlan`; this crate moves the bytes.
//!
//! ```no_run
//! use gather_mpi::{Options, ShardedTable};
//! use wgpu_gather::{Executor, Indices, Layout, Params, Rules, TensorView};
//!
//! // Each rank brings as many rows as it has; their order is that of the ranks.
//! let universe = mpi::initialize().expect("MPI");
//! let rows = vec![1u8; 4 * 100];
//! let rows = Params::new(&rows, 4, Layout::contiguous(&[50, 2]))?;
//! let world = universe.world();
//! let table = ShardedTable::from_rows(&world, &Executor::Cpu, &rows, Options::default())?;
//!
//! let ids = TensorView::new(&[3], &[7i64, 60, 7])?;
//! let mut output = vec![0; 3 * 2 * 4];
//! let traffic = table.gather(&Rules::ONNX, &Indices::try_from(&ids)?, &mut output)?;
//! println!("{} bytes sent", traffic.sent.bytes());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Errors
//!
//! A rank that left a collective alone would have the others wait for ever. So what can go wrong on one
//! rank (an argument, a file, memory, a device) goes wrong before anything is exchanged: the ranks
//! [`agree`], and each returns the [`Error`] of the first rank that has one. What remains fatal is what
//! MPI itself ends the program for, such as a rank that dies.
//!
//! # Memory
//!
//! A rank holds its rows, what it asked for, and the bytes of one round ([`Options::round_bytes`]):
//! however many ranks ask it for rows.

mod agree;
mod error;
mod exchange;
mod options;
mod round;
mod table;
mod traffic;

pub use agree::{agree, agree_on_same, broadcast};
pub use error::Error;
pub use options::Options;
pub use table::ShardedTable;
pub use traffic::{Messages, Seconds, Traffic, messages_of};

/// What a call gives.
pub type Result<T> = std::result::Result<T, Error>;
