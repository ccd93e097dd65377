//! Bytes from rank to rank: nonblocking messages of a limited size, of which none is empty.
//!
//! It is the all-to-all of MPI, as single messages: `MPI_Alltoallv` counts bytes in 32 bits, waits for
//! the empty ones, and gives its caller no time for work meanwhile.

use mpi::Tag;
use mpi::request::multiple_scope;
use mpi::traits::*;

/// Bytes for one rank.
pub(crate) type ToRank<'a> = (usize, &'a [u8]);

/// Memory for what one rank sends.
pub(crate) type FromRank<'a> = (usize, &'a mut [u8]);

/// What the messages are of. Those of the next exchange may arrive before this one is over.
#[derive(Clone, Copy)]
pub(crate) enum What {
    Ids = 1,
    Rows = 2,
}

/// Sends and receives; calls `meanwhile` in between. Returns how many messages were sent and received.
///
/// Each rank must expect from each other what that sends it; messages between two ranks arrive in order.
pub(crate) fn exchange<R>(
    communicator: &impl Communicator,
    what: What,
    message_bytes: usize,
    sent: &[ToRank<'_>],
    received: Vec<FromRank<'_>>,
    meanwhile: impl FnOnce() -> R,
) -> ((u64, u64), R) {
    let tag = what as Tag;
    let pieces = |len: usize| len.div_ceil(message_bytes);
    let sends: usize = sent.iter().map(|(_, bytes)| pieces(bytes.len())).sum();
    let receives: usize = received.iter().map(|(_, bytes)| pieces(bytes.len())).sum();
    let result = multiple_scope(sends + receives, |scope, requests| {
        for (rank, bytes) in received {
            let process = communicator.process_at_rank(rank as i32);
            for piece in bytes.chunks_mut(message_bytes) {
                requests.add(process.immediate_receive_into_with_tag(scope, piece, tag));
            }
        }
        for &(rank, bytes) in sent {
            let process = communicator.process_at_rank(rank as i32);
            for piece in bytes.chunks(message_bytes) {
                requests.add(process.immediate_send_with_tag(scope, piece, tag));
            }
        }
        let result = meanwhile();
        requests.wait_all(&mut Vec::new());
        result
    });
    ((sends as u64, receives as u64), result)
}
