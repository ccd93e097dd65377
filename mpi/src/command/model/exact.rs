//! Given ids: the plans that the ranks would make, counted.

use anyhow::{Context, Result};
use gather_mpi::{Messages, messages_of};
use wgpu_gather::DType;
use wgpu_gather::shard::{RowFormat, ShardPlan};
use wgpu_gather_cli::rules;
use wgpu_gather_files::{Error, Source, StoredTensor};

use super::Prediction;
use crate::args::{ModelArgs, Switch};
use crate::flat::FlatIndices;
use crate::parts::Parts;
use crate::report::Wire;

/// The ids of a file.
pub(super) struct Ids {
    tensor: StoredTensor,
    lookups: u64,
}

impl Ids {
    /// Those that `args` name, if they name a file.
    pub(super) fn read(args: &ModelArgs) -> Result<Option<Ids>> {
        let Some(file) = &args.indices else {
            return Ok(None);
        };
        let named = || format!("indices {file}");
        let tensor = Source::parse(file).and_then(|source| source.read());
        let tensor = tensor.map_err(Error::into_problem).with_context(named)?;
        let lookups = FlatIndices::new(&tensor).with_context(named)?.len();
        Ok(Some(Ids { tensor, lookups }))
    }

    /// What goes from rank to rank: what `gather` sends, to the byte.
    pub(super) fn predict(&self, args: &ModelArgs, ranks: u64) -> Result<Prediction> {
        let ids = FlatIndices::new(&self.tensor)?;
        let (rows, row_bytes) = (
            usize::try_from(args.rows)?,
            usize::try_from(args.row_bytes)?,
        );
        let partition = args.exchange.partition.of(rows, usize::try_from(ranks)?)?;
        // The type of the elements says only how a fill value is read.
        let (format, rules) = (
            RowFormat::new(1, &[row_bytes])?,
            rules::resolve(&args.rules, DType::U8)?,
        );
        let options = args.exchange.options();
        let per_round = options.rows_per_round(row_bytes, usize::try_from(ranks)?) as u64;
        let parts = Parts::new(self.lookups, ranks, args.row_bytes, args.exchange.chunk.0);
        let mut sent = vec![Messages::default(); usize::try_from(ranks)?];
        let mut prediction = Prediction {
            ranks,
            lookups: self.lookups,
            row_bytes: args.row_bytes,
            chunks: parts.chunks(),
            ..Prediction::default()
        };
        let dedupe = args.exchange.dedupe == Switch::On;
        for chunk in 0..parts.chunks() {
            let mut most = 0;
            for rank in 0..ranks {
                let indices = ids.part(parts.of_chunk(rank, chunk))?;
                let plan = ShardPlan::new(&partition, &format, &rules, &indices, dedupe)?;
                // One rank asks nobody, and sorts nothing.
                if ranks > 1 {
                    prediction.duplicates += plan.duplicates() as u64;
                }
                for owner in 0..ranks {
                    let asked = plan.asked_of(owner as usize).len() as u64;
                    most = most.max(asked);
                    if owner != rank {
                        let message_bytes = options.message_bytes as u64;
                        let (asking, answering) =
                            messages_of(asked, args.row_bytes, per_round, message_bytes);
                        sent[rank as usize] += asking;
                        sent[owner as usize] += answering;
                    }
                }
            }
            prediction.rounds += most.div_ceil(per_round);
        }
        let mut wire = Wire::default();
        sent.into_iter().for_each(|sent| wire.add(sent));
        prediction.wire = wire;
        Ok(prediction)
    }
}
