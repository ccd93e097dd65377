//! A table whose rows lie on the ranks of a communicator.

use std::time::Instant;

use mpi::collective::SystemOperation;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use wgpu_gather::shard::{Partition, RowFormat, Shard, ShardPlan};
use wgpu_gather::{Executor, Indices, Params, Rules};

use crate::agree::{agree, agree_on_gather, agree_on_same};
use crate::error::Error;
use crate::options::Options;
use crate::round::{Rounds, memory};
use crate::traffic::Traffic;

/// A table of which each rank has a shard. Everything but the accessors is a collective: all ranks call
/// it, in the same order.
pub struct ShardedTable<'a> {
    communicator: SimpleCommunicator,
    partition: Partition,
    shard: Shard<'a>,
    options: Options,
}

impl<'a> ShardedTable<'a> {
    /// The table of the rows that the ranks bring: the first rank's, then the next one's. The first dim
    /// of `rows` counts them, and may be 0. A GPU executor gets a copy of them on its device.
    ///
    /// # Errors
    ///
    /// As [`ShardedTable::from_shards`].
    pub fn from_rows(
        communicator: &impl Communicator,
        executor: &Executor,
        rows: &Params<'a>,
        options: Options,
    ) -> Result<Self, Error> {
        let mine = rows.layout().shape().first().copied().unwrap_or_default() as u64;
        let mut all = vec![0u64; communicator.size() as usize];
        communicator.all_gather_into(&mine, &mut all[..]);
        let rows_of: Vec<usize> = all.into_iter().map(|rows| rows as usize).collect();
        let partition = Partition::blocks(&rows_of);
        ShardedTable::checked(communicator, executor, partition, rows, options)
    }

    /// The table in a file that every rank sees whole, and of which each takes the rows that
    /// `partition` gives it: of a mapped file, it reads no other.
    ///
    /// # Errors
    ///
    /// As [`ShardedTable::from_shards`].
    pub fn from_whole(
        communicator: &impl Communicator,
        executor: &Executor,
        partition: Partition,
        table: &Params<'a>,
        options: Options,
    ) -> Result<Self, Error> {
        let rank = communicator.rank() as usize;
        let view = partition.view(table.layout(), rank);
        let rows = view.and_then(|view| Params::new(table.bytes(), table.element_bytes(), view));
        let rows = agree(communicator, rows)?;
        ShardedTable::checked(communicator, executor, Ok(partition), &rows, options)
    }

    /// The table of which each rank has the rows that `partition` gives it.
    ///
    /// # Errors
    ///
    /// [`Error::Rank`], if a rank has other rows than the partition says or rows of another format than
    /// the first rank, has chosen other options or no valid ones, or as [`Shard::new`].
    pub fn from_shards(
        communicator: &impl Communicator,
        executor: &Executor,
        partition: Partition,
        rows: &Params<'a>,
        options: Options,
    ) -> Result<Self, Error> {
        ShardedTable::checked(communicator, executor, Ok(partition), rows, options)
    }

    fn checked(
        communicator: &impl Communicator,
        executor: &Executor,
        partition: wgpu_gather::Result<Partition>,
        rows: &Params<'a>,
        options: Options,
    ) -> Result<Self, Error> {
        let partition = agree(communicator, partition)?;
        let shape = rows.layout().shape();
        let rank = communicator.rank() as usize;
        let format = format!(
            "rows of shape {:?} with {}-byte elements",
            shape.get(1..).unwrap_or_default(),
            rows.element_bytes(),
        );
        agree_on_same(communicator, &format)?;
        agree_on_same(communicator, &format!("{options:?}"))?;
        agree_on_same(communicator, &format!("{partition:?}"))?;
        let there = partition.rows_of(rank);
        let checked = if partition.shards() != communicator.size() as usize {
            let (shards, ranks) = (partition.shards(), communicator.size());
            Err(format!(
                "the partition is over {shards} shards, but there are {ranks} ranks"
            ))
        } else if shape.first() != Some(&there) {
            Err(format!(
                "it has rows of shape {shape:?}, but the partition gives it {there} rows"
            ))
        } else {
            options.check()
        };
        agree(communicator, checked)?;
        let shard = Shard::new(executor, rows).wait();
        let shard = agree(communicator, shard)?;
        Ok(ShardedTable {
            communicator: communicator.duplicate(),
            partition,
            shard,
            options,
        })
    }

    /// Who owns which row.
    pub fn partition(&self) -> &Partition {
        &self.partition
    }

    /// What a row is.
    pub fn format(&self) -> &RowFormat {
        self.shard.format()
    }

    /// Checks the calls that the ranks are about to make, and under the rule "error" their indices.
    ///
    /// # Errors
    ///
    /// As [`ShardedTable::gather`].
    pub fn check(&self, rules: &Rules, indices: &Indices<'_>) -> Result<(), Error> {
        let checked = ShardPlan::check(&self.partition, self.format(), rules, indices);
        agree_on_gather(&self.communicator, checked)
    }

    /// Gathers along the first axis: each rank at its own indices, by its own rules, to its own output.
    ///
    /// # Errors
    ///
    /// [`Error::BadIndices`] with the first bad index of the first rank that has one, under the rule
    /// "error"; [`Error::Rank`] for an output of another length, other errors of the library, and a rank
    /// without memory. Every rank returns it. What the outputs then hold is not specified.
    pub fn gather(
        &self,
        rules: &Rules,
        indices: &Indices<'_>,
        output: &mut [u8],
    ) -> Result<Traffic, Error> {
        self.gather_watched(rules, indices, output, || ())
    }

    /// [`ShardedTable::gather`], calling `after_round` after each round: to give back the pages of a
    /// mapped file that were read, for example.
    ///
    /// # Errors
    ///
    /// As [`ShardedTable::gather`].
    pub fn gather_watched(
        &self,
        rules: &Rules,
        indices: &Indices<'_>,
        output: &mut [u8],
        mut after_round: impl FnMut(),
    ) -> Result<Traffic, Error> {
        let mut traffic = Traffic::default();
        if self.partition.shards() == 1 {
            let made = self.alone(rules, indices, output, &mut traffic);
            after_round();
            return made.map(|()| traffic);
        }
        let started = Instant::now();
        let plan = self.plan(rules, indices, output.len());
        traffic.seconds.plan = started.elapsed().as_secs_f64();
        let plan = traffic.agreeing(|| agree_on_gather(&self.communicator, plan))?;
        traffic.duplicates = plan.duplicates() as u64;
        traffic.found = (plan.rows() + plan.duplicates()) as u64;

        // Rows that are the output as they come need no other memory.
        let in_order = plan.is_in_order();
        let bytes = if in_order { 0 } else { plan.row_bytes() };
        let came_back = memory(bytes);
        let mut came_back = traffic.agreeing(|| agree(&self.communicator, came_back))?;
        let rows = if in_order {
            &mut *output
        } else {
            &mut came_back[..]
        };
        let rounds = traffic.agreeing(|| self.rounds(&plan))?;
        rounds.run(rows, &mut traffic, &mut after_round)?;

        let started = Instant::now();
        let made = match in_order {
            true => Ok(()),
            false => plan.assemble(&came_back, output),
        };
        traffic.seconds.assemble = started.elapsed().as_secs_f64();
        traffic.agreeing(|| agree(&self.communicator, made))?;
        Ok(traffic)
    }

    /// One rank has nobody to ask: its shard is the table.
    fn alone(
        &self,
        rules: &Rules,
        indices: &Indices<'_>,
        output: &mut [u8],
        traffic: &mut Traffic,
    ) -> Result<(), Error> {
        let started = Instant::now();
        let made = self.shard.run(rules, indices, output).wait();
        traffic.seconds.assemble = started.elapsed().as_secs_f64();
        agree_on_gather(&self.communicator, made)
    }

    fn plan(
        &self,
        rules: &Rules,
        indices: &Indices<'_>,
        output_bytes: usize,
    ) -> wgpu_gather::Result<ShardPlan> {
        let (partition, dedupe) = (&self.partition, self.options.dedupe);
        let plan = ShardPlan::new(partition, self.format(), rules, indices, dedupe)?;
        plan.check_output(output_bytes)?;
        Ok(plan)
    }

    /// Tells every rank how many rows it is asked for, and finds how many rounds that takes.
    fn rounds<'t>(&'t self, plan: &'t ShardPlan) -> Result<Rounds<'t>, Error> {
        let ranks = self.partition.shards();
        let asked: Vec<u64> = (0..ranks).map(|r| plan.asked_of(r).len() as u64).collect();
        let mut answered = vec![0u64; ranks];
        self.communicator
            .all_to_all_into(&asked[..], &mut answered[..]);
        let per_round = self.options.rows_per_round(self.format().bytes(), ranks);
        let most = asked.iter().copied().max().unwrap_or_default();
        let mine = most.div_ceil(per_round as u64);
        let mut rounds = 0;
        self.communicator
            .all_reduce_into(&mine, &mut rounds, SystemOperation::max());
        let rounds = Rounds {
            communicator: &self.communicator,
            shard: &self.shard,
            plan,
            answered: answered.into_iter().map(|n| n as usize).collect(),
            per_round,
            rounds,
            message_bytes: self.options.message_bytes,
        };
        Ok(rounds)
    }
}
