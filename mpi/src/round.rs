//! The rounds of an exchange. In each, a rank asks every owner for a limited number of rows, so that an
//! owner whom all ask has no more to hold than it chose.

use std::ops::Range;
use std::time::Instant;

use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use wgpu_gather::shard::{Shard, ShardPlan};

use crate::agree::agree;
use crate::error::Error;
use crate::exchange::{FromRank, ToRank, What, exchange};
use crate::traffic::Traffic;

/// Bytes of a row number on its way.
const ID_BYTES: usize = size_of::<u64>();

/// What one gather has to exchange.
pub(crate) struct Rounds<'t> {
    pub(crate) communicator: &'t SimpleCommunicator,
    pub(crate) shard: &'t Shard<'t>,
    pub(crate) plan: &'t ShardPlan,
    /// How many rows each rank asks this one for.
    pub(crate) answered: Vec<usize>,
    /// How many of them at most in one round.
    pub(crate) per_round: usize,
    pub(crate) rounds: u64,
    pub(crate) message_bytes: usize,
}

/// Memory that is used again in each round.
struct Buffers {
    /// The numbers of rows that others ask for, by rank, and those rows.
    ids: Vec<u64>,
    rows: Vec<u8>,
}

impl Rounds<'_> {
    /// Fills `rows` with the rows that were asked for, ordered by owner.
    pub(crate) fn run(
        &self,
        rows: &mut [u8],
        traffic: &mut Traffic,
        after_round: &mut impl FnMut(),
    ) -> Result<(), Error> {
        let buffers = self.buffers();
        let mut buffers = traffic.agreeing(|| agree(self.communicator, buffers))?;
        // What went wrong while messages were on their way is said in the next agreement.
        let mut own = Ok(());
        for round in 0..self.rounds as usize {
            self.exchange_ids(round, &mut buffers, traffic);
            let started = Instant::now();
            let gathered = self.gather_for_others(round, &mut buffers);
            traffic.seconds.gather += started.elapsed().as_secs_f64();
            let both = std::mem::replace(&mut own, Ok(())).and(gathered);
            traffic.agreeing(|| agree(self.communicator, both))?;
            own = self.exchange_rows(round, &buffers, rows, traffic);
            after_round();
        }
        traffic.rounds = self.rounds;
        traffic.agreeing(|| agree(self.communicator, own))
    }

    fn me(&self) -> usize {
        self.communicator.rank() as usize
    }

    fn row_bytes(&self) -> usize {
        self.plan.format().bytes()
    }

    /// Which of `count` rows are moved in a round.
    fn part(&self, round: usize, count: usize) -> Range<usize> {
        let at = |round: usize| round.saturating_mul(self.per_round).min(count);
        at(round)..at(round + 1)
    }

    /// Every other rank, and how many rows it asks for in a round.
    fn askers(&self, round: usize) -> impl Iterator<Item = (usize, usize)> {
        let me = self.me();
        let counts = self.answered.iter().enumerate();
        let others = counts.filter(move |&(rank, _)| rank != me);
        others.map(move |(rank, &count)| (rank, self.part(round, count).len()))
    }

    /// Memory for the first round, in which every rank asks for the most.
    fn buffers(&self) -> Result<Buffers, String> {
        let count: usize = self.askers(0).map(|(_, count)| count).sum();
        let bytes = count.saturating_mul(self.row_bytes());
        let mut ids = Vec::new();
        let reserved = ids.try_reserve_exact(count);
        reserved.map_err(|_| no_memory(count.saturating_mul(ID_BYTES)))?;
        ids.resize(count, 0);
        Ok(Buffers {
            ids,
            rows: memory(bytes)?,
        })
    }

    /// Asks the owners, and learns what others ask for.
    fn exchange_ids(&self, round: usize, buffers: &mut Buffers, traffic: &mut Traffic) {
        let started = Instant::now();
        let ranks = 0..self.answered.len();
        let sent: Vec<ToRank<'_>> = ranks
            .filter(|&rank| rank != self.me())
            .map(|rank| {
                let asked = self.plan.asked_of(rank);
                let part = &asked[self.part(round, asked.len())];
                (rank, bytemuck::cast_slice(part))
            })
            .collect();
        let mut rest: &mut [u8] = bytemuck::cast_slice_mut(&mut buffers.ids);
        let mut received: Vec<FromRank<'_>> = Vec::with_capacity(sent.len());
        for (rank, count) in self.askers(round) {
            let (here, after) = rest.split_at_mut(count * ID_BYTES);
            received.push((rank, here));
            rest = after;
        }
        traffic.sent.id_bytes += total(sent.iter().map(|(_, bytes)| bytes.len()));
        traffic.received.id_bytes += total(received.iter().map(|(_, bytes)| bytes.len()));
        self.count(What::Ids, &sent, received, traffic, || ());
        traffic.seconds.ids += started.elapsed().as_secs_f64();
    }

    /// Gathers what others asked for in this round.
    fn gather_for_others(
        &self,
        round: usize,
        buffers: &mut Buffers,
    ) -> Result<(), wgpu_gather::Error> {
        let count: usize = self.askers(round).map(|(_, count)| count).sum();
        let rows = &mut buffers.rows[..count * self.row_bytes()];
        self.shard.gather(&buffers.ids[..count], rows).wait()
    }

    /// Sends those rows, receives the rank's own from their owners, and meanwhile gathers those that it
    /// owns itself.
    fn exchange_rows(
        &self,
        round: usize,
        buffers: &Buffers,
        rows: &mut [u8],
        traffic: &mut Traffic,
    ) -> Result<(), wgpu_gather::Error> {
        let started = Instant::now();
        let mut sent: Vec<ToRank<'_>> = Vec::new();
        let mut rest = &buffers.rows[..];
        for (rank, count) in self.askers(round) {
            let (here, after) = rest.split_at(count * self.row_bytes());
            sent.push((rank, here));
            rest = after;
        }
        let mut received: Vec<FromRank<'_>> = Vec::new();
        let mut own: (&[u64], &mut [u8]) = (&[], &mut []);
        let mut rest = rows;
        for rank in 0..self.answered.len() {
            let asked = self.plan.asked_of(rank);
            let (of_rank, after) = rest.split_at_mut(asked.len() * self.row_bytes());
            rest = after;
            let part = self.part(round, asked.len());
            let bytes = part.start * self.row_bytes()..part.end * self.row_bytes();
            if rank == self.me() {
                own = (&asked[part], &mut of_rank[bytes]);
            } else {
                received.push((rank, &mut of_rank[bytes]));
            }
        }
        traffic.sent.row_bytes += total(sent.iter().map(|(_, bytes)| bytes.len()));
        traffic.received.row_bytes += total(received.iter().map(|(_, bytes)| bytes.len()));
        let gather = || self.shard.gather(own.0, own.1).wait();
        let gathered = self.count(What::Rows, &sent, received, traffic, gather);
        traffic.seconds.rows += started.elapsed().as_secs_f64();
        gathered
    }

    /// Exchanges, and counts the messages.
    fn count<R>(
        &self,
        what: What,
        sent: &[ToRank<'_>],
        received: Vec<FromRank<'_>>,
        traffic: &mut Traffic,
        meanwhile: impl FnOnce() -> R,
    ) -> R {
        let (communicator, message_bytes) = (self.communicator, self.message_bytes);
        let ((sends, receives), result) =
            exchange(communicator, what, message_bytes, sent, received, meanwhile);
        traffic.sent.messages += sends;
        traffic.received.messages += receives;
        result
    }
}

impl Traffic {
    /// Does what waits for other ranks, and adds the time.
    pub(crate) fn agreeing<R>(&mut self, wait: impl FnOnce() -> R) -> R {
        let started = Instant::now();
        let result = wait();
        self.seconds.agree += started.elapsed().as_secs_f64();
        result
    }
}

fn total(bytes: impl Iterator<Item = usize>) -> u64 {
    bytes.map(|n| n as u64).sum()
}

/// Zeroed memory, or what is missing.
pub(crate) fn memory(bytes: usize) -> Result<Vec<u8>, String> {
    bytemuck::allocation::try_zeroed_vec(bytes).map_err(|()| no_memory(bytes))
}

fn no_memory(bytes: usize) -> String {
    format!("the host could not allocate {bytes} bytes")
}
