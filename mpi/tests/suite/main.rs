//! The command and the library under `mpirun`. Each run has a time limit: what hangs fails.
//!
//! `WGPU_GATHER_MPI_RANKS` (default `1,2,3,4,7`) and `WGPU_GATHER_MPI_BACKENDS` (default `cpu,vulkan,gl`)
//! say where; the command without MPI, which makes the files to compare with, is
//! `WGPU_GATHER_COMMAND`.

mod calls;
mod faults;
mod files;
mod kit;
mod traffic;
