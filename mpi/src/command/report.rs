//! What a gather says at its end: traffic over all ranks, and the time of each step on the slowest.

use gather_mpi::{Messages, Options, Seconds, Traffic};
use mpi::traits::*;
use serde::{Deserialize, Serialize};
use serde_json::json;
use wgpu_gather::DType;
use wgpu_gather_cli::text;
use wgpu_gather_files::Stored;

use crate::args::GatherArgs;

/// A step besides those of the exchange, and its seconds.
pub(crate) struct Step {
    name: &'static str,
    seconds: f64,
}

impl Step {
    /// The step of this name.
    pub(crate) fn new(name: &'static str, seconds: f64) -> Self {
        Step { name, seconds }
    }
}

/// A gather that succeeded.
pub(crate) struct Done<'a> {
    pub(crate) args: &'a GatherArgs,
    pub(crate) options: Options,
    pub(crate) executor: String,
    pub(crate) rows: usize,
    pub(crate) row_bytes: usize,
    pub(crate) dtype: DType,
    pub(crate) index_type: Stored,
    pub(crate) params_shape: &'a [usize],
    pub(crate) indices_shape: &'a [usize],
    pub(crate) output_shape: &'a [usize],
    pub(crate) chunks: u64,
    pub(crate) steps: [Step; 3],
}

/// The traffic of all ranks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Wire {
    /// From rank to rank, over all.
    #[serde(flatten)]
    pub(crate) all: Messages,
    /// The most that one rank sends.
    pub(crate) busiest_messages: u64,
    pub(crate) busiest_bytes: u64,
    /// The most rows that one rank sends to others, in bytes.
    pub(crate) busiest_row_bytes: u64,
}

impl Wire {
    /// Adds what one rank sends.
    pub(crate) fn add(&mut self, sent: Messages) {
        self.all += sent;
        self.busiest_messages = self.busiest_messages.max(sent.messages);
        self.busiest_bytes = self.busiest_bytes.max(sent.bytes());
        self.busiest_row_bytes = self.busiest_row_bytes.max(sent.row_bytes);
    }
}

/// What the ranks did together.
struct Together {
    wire: Wire,
    received: u64,
    found: u64,
    duplicates: u64,
    rounds: u64,
    /// The most memory that a rank had resident, where the system tells.
    peak_bytes: u64,
    /// On the slowest rank in each.
    seconds: Vec<(&'static str, f64)>,
}

impl Done<'_> {
    /// A line, or a JSON object. A collective.
    pub(crate) fn text(&self, world: &impl Communicator, traffic: &Traffic) -> String {
        let together = self.together(world, traffic);
        if self.args.json {
            return format!("{}\n", self.json(world, &together));
        }
        let seconds = together.seconds.iter();
        let steps: Vec<String> = seconds
            .map(|(name, s)| format!("{name} {s:.3} s"))
            .collect();
        let wire = &together.wire.all;
        format!(
            "gather: params {:?} {}, indices {:?} {} -> output {:?} on {} ranks ({}), {}: {} messages, \
             {} of ids and {} of rows sent, {} received, {:.1}% duplicates; {}\n",
            self.params_shape,
            self.dtype,
            self.indices_shape,
            self.index_type,
            self.output_shape,
            world.size(),
            self.args.exchange.partition.name(),
            self.executor,
            text::grouped(wire.messages as usize),
            text::bytes(wire.id_bytes),
            text::bytes(wire.row_bytes),
            text::bytes(together.received),
            100.0 * share(together.duplicates, together.found),
            steps.join(", "),
        )
    }

    fn json(&self, world: &impl Communicator, together: &Together) -> serde_json::Value {
        let seconds: serde_json::Map<String, serde_json::Value> = together
            .seconds
            .iter()
            .map(|&(name, s)| (name.to_owned(), json!(s)))
            .collect();
        json!({
            "op": "gather",
            "ranks": world.size(),
            "partition": self.args.exchange.partition.name(),
            "dedupe": self.options.dedupe,
            "executor": self.executor,
            "params_shape": self.params_shape,
            "dtype": self.dtype.name(),
            "indices_shape": self.indices_shape,
            "index_type": self.index_type.to_string(),
            "output_shape": self.output_shape,
            "rows": self.rows,
            "row_bytes": self.row_bytes,
            "lookups": self.indices_shape.iter().product::<usize>(),
            "round_bytes": self.options.round_bytes,
            "message_bytes": self.options.message_bytes,
            "chunk_bytes": self.args.exchange.chunk.0,
            "chunks": self.chunks,
            "rounds": together.rounds,
            "peak_bytes_of_a_rank": together.peak_bytes,
            "wire": together.wire,
            "received_bytes": together.received,
            "found": together.found,
            "duplicates": together.duplicates,
            "share_of_duplicates": share(together.duplicates, together.found),
            "seconds": seconds,
            "out": self.args.out.display().to_string(),
        })
    }

    /// Adds up and compares the ranks.
    fn together(&self, world: &impl Communicator, traffic: &Traffic) -> Together {
        let Traffic {
            sent,
            received,
            found,
            duplicates,
            ..
        } = *traffic;
        let counts = [
            sent.messages,
            sent.id_bytes,
            sent.row_bytes,
            received.bytes(),
            found,
            duplicates,
            peak_bytes(),
        ];
        let ranks = world.size() as usize;
        let mut all = vec![0; ranks * counts.len()];
        world.all_gather_into(&counts[..], &mut all[..]);
        let mut steps = steps_of(&traffic.seconds).to_vec();
        steps.extend(self.steps.iter().map(|step| (step.name, step.seconds)));
        let mine: Vec<f64> = steps.iter().map(|&(_, seconds)| seconds).collect();
        let mut slowest = vec![0.0; mine.len()];
        let max = mpi::collective::SystemOperation::max();
        world.all_reduce_into(&mine[..], &mut slowest[..], max);
        let mut together = Together {
            wire: Wire::default(),
            received: 0,
            found: 0,
            duplicates: 0,
            rounds: traffic.rounds,
            peak_bytes: 0,
            seconds: steps.iter().map(|&(name, _)| name).zip(slowest).collect(),
        };
        for rank in all.chunks(counts.len()) {
            together.wire.add(Messages {
                messages: rank[0],
                id_bytes: rank[1],
                row_bytes: rank[2],
            });
            together.received += rank[3];
            together.found += rank[4];
            together.duplicates += rank[5];
            together.peak_bytes = together.peak_bytes.max(rank[6]);
        }
        together
    }
}

/// The steps of the exchange by name.
fn steps_of(seconds: &Seconds) -> [(&'static str, f64); 6] {
    [
        ("plan", seconds.plan),
        ("agree", seconds.agree),
        ("ids", seconds.ids),
        ("gather", seconds.gather),
        ("rows", seconds.rows),
        ("assemble", seconds.assemble),
    ]
}

/// The most that this process had resident: memory and pages of mapped files. 0 where that is not told.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kib.unwrap_or_default() << 10
}

fn share(part: u64, all: u64) -> f64 {
    part as f64 / all.max(1) as f64
}
