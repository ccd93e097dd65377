//! What calls in the shapes of the benchmarks ask of memory: for each pipeline and each of its bindings the
//! bytes that have to be moved, and those of the sectors that waves ask for.
//!
//! What is read or written in order, has to be moved once in each dispatch: its distinct bytes count. Of a
//! table, of updates and of a destination, the sectors of each row that is looked up count. Waves may ask for
//! more: for a sector again, or for others that lie in the same one. What is counted are requests of single
//! waves: that a cache answers some of them, and how long each takes, cannot be seen here. Of each pipeline
//! stands beside them what its workgroups share, and how often their invocations wait for each other.

use std::collections::BTreeMap;
use std::fmt::Write;

use gather_conformance::Outcome;
use wgpu_gather::DType;

use crate::bench::{Bench, Tally};
use crate::calls::BINDINGS;
use crate::case::{Case, Kind, is_rows};
use crate::known::KNOWN;
use crate::patterns::Pattern;
use crate::recorder::{Fault, Recorded};
use crate::sectors::{Moved, of_bindings};
use crate::shapes::cases;

/// The most that may be asked for of what is read or written in order, in what has to be moved.
const STREAMED: f64 = 1.15;
/// The most of rows, in their sectors.
const ROWS: f64 = 1.05;

/// What is so small a part of what a call moves matters little, however often it is asked for.
const LITTLE: f64 = 0.02;

const HEAD: &str = "call;pattern;pipeline;dispatches;workgroup memory;barriers;binding;\
    loads: bytes to be moved;in sectors of waves of 32;of 64;\
    stores: bytes to be moved;in sectors of waves of 32;of 64";

/// A binding of a pipeline in a call.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    pipeline: String,
    binding: String,
}

/// What was moved over a binding in all dispatches of a call.
#[derive(Debug, Clone, Default)]
struct Sums {
    dispatches: u64,
    /// Bytes that the invocations of a workgroup share.
    shared: u32,
    /// The most barriers that an invocation comes to in a dispatch.
    barriers: u32,
    moved: [Moved; 2],
}

/// Runs these calls; gives the table.
pub(crate) fn run(bench: &Bench, cases: &[Case], tally: &mut Tally) -> String {
    let mut text = format!("{HEAD}\n");
    for case in cases {
        for pattern in Pattern::ALL {
            let name = format!("{};{pattern}", case.name);
            let ids = case.ids(pattern);
            match record(bench, case, &ids) {
                Ok(recorded) => {
                    tally.passed += 1;
                    write_lines(&mut text, &name, &sums(case, &ids, &recorded));
                }
                Err(error) => {
                    println!("FAILED: {name}: {error}");
                    tally.failed.push(name);
                }
            }
        }
    }
    text
}

/// What the dispatches of a call did, which must give what the reference gives.
fn record(bench: &Bench, case: &Case, ids: &[u32]) -> Result<Vec<Recorded>, String> {
    let call = |bench: &Bench| match case.difference(&bench.executor(), ids) {
        None => Outcome::Passed,
        Some(why) => Outcome::Failed(why),
    };
    match bench.record(call)? {
        (Outcome::Failed(why), _) => Err(why),
        (_, recorded) => Ok(recorded),
    }
}

/// What was moved over each binding.
fn sums(case: &Case, ids: &[u32], recorded: &[Recorded]) -> BTreeMap<Place, Sums> {
    let mut all: BTreeMap<Place, Sums> = BTreeMap::new();
    for one in recorded {
        let Some(most) = one.most else {
            continue; // it had no workgroup
        };
        for (binding, moved) in of_bindings(one) {
            let pipeline = one.dispatch.pipeline.clone();
            let sums = all.entry(Place { pipeline, binding }).or_default();
            sums.dispatches += 1;
            sums.shared = one.dispatch.workgroup.bytes;
            sums.barriers = sums.barriers.max(most.barriers);
            sums.moved
                .iter_mut()
                .zip(moved)
                .for_each(|(sum, n)| *sum += n);
        }
    }
    for (place, sums) in &mut all {
        if let Some(rows) = case.sectors_of_rows(&place.pipeline, &place.binding, ids) {
            let touched = sums.moved.iter_mut().filter(|moved| moved.bytes > 0);
            touched.for_each(|moved| moved.bytes = rows);
        }
    }
    all
}

fn write_lines(text: &mut String, name: &str, sums: &BTreeMap<Place, Sums>) {
    for (Place { pipeline, binding }, sums) in sums {
        let Sums {
            dispatches,
            shared,
            barriers,
            ..
        } = sums;
        let what = format!("{pipeline};{dispatches};{shared};{barriers};{binding}");
        write!(text, "{name};{what}").expect("a string");
        for moved in sums.moved {
            write!(text, ";{}", moved.bytes).expect("a string");
            for sectors in moved.sectors {
                write!(text, ";{sectors}").expect("a string");
            }
        }
        text.push('\n');
    }
}

/// What is beyond the bounds in some call: pipeline and binding, and the most that is asked for, as a multiple
/// of what has to be moved. What is less than a [`LITTLE`] of all that the call moves does not count.
fn beyond(table: &str) -> BTreeMap<(String, String), f64> {
    let lines = || table.lines().skip(1).map(Line::read);
    let mut moved: BTreeMap<String, u64> = BTreeMap::new();
    for line in lines() {
        *moved.entry(line.call).or_default() +=
            line.kinds.iter().map(|[bytes, _]| bytes).sum::<u64>();
    }
    let mut all = BTreeMap::new();
    for line in lines() {
        let most = if is_rows(&line.binding) {
            ROWS
        } else {
            STREAMED
        };
        for (does, [bytes, sectors]) in ["loads", "stores"].into_iter().zip(line.kinds) {
            let ratio = sectors as f64 / bytes.max(1) as f64;
            let more = sectors.saturating_sub(bytes) as f64;
            if ratio > most && more > LITTLE * moved[&line.call] as f64 {
                let place = (line.pipeline.clone(), format!("{does} of {}", line.binding));
                let worst = all.entry(place).or_insert(0.0);
                *worst = f64::max(*worst, ratio);
            }
        }
    }
    all
}

/// A line of the table.
struct Line {
    /// With its pattern.
    call: String,
    pipeline: String,
    binding: String,
    /// Of loads and stores: bytes to be moved, and those in sectors of waves of 32.
    kinds: [[u64; 2]; 2],
}

impl Line {
    fn read(line: &str) -> Self {
        let cells: Vec<&str> = line.split(';').collect();
        let number = |n: usize| cells[n].parse().expect("a number");
        // The nest of a kernel does not matter.
        let pipeline = cells[2].split(',').next().expect("a name");
        Line {
            call: format!("{};{}", cells[0], cells[1]),
            pipeline: pipeline.to_owned(),
            binding: cells[6].to_owned(),
            kinds: [[number(7), number(8)], [number(10), number(11)]],
        }
    }
}

/// What is beyond the bounds without being known, and what is known and is not beyond them any more.
pub(crate) fn complaints(table: &str) -> Vec<String> {
    let found = beyond(table);
    let is_known = |place: &(String, String)| {
        KNOWN
            .iter()
            .any(|(known, _)| known.contains(&(&place.0, &place.1)))
    };
    let new = found.iter().filter(|(place, _)| !is_known(place));
    let new = new.map(|((pipeline, what), ratio)| {
        format!("{pipeline}: {what} take {ratio:.2} times what has to be moved")
    });
    let known = KNOWN.iter().flat_map(|(known, _)| *known);
    let is_gone = |(pipeline, what): &&(&str, &str)| {
        !found.contains_key(&(pipeline.to_string(), what.to_string()))
    };
    let gone = known.filter(is_gone);
    let gone = gone.map(|(pipeline, what)| format!("{pipeline}: {what} are within the bounds now"));
    new.chain(gone).collect()
}

/// Faults that leave all results as they are, each with what is not as it should be.
pub(crate) fn planted() -> Vec<(String, Option<String>)> {
    let faults: [(&str, Fault); 2] = [
        ("a stride between neighbours", |text| {
            text.replace(
                "let n = workgroup_number(workgroup) * WORKGROUP + invocation;\n    if (n >=",
                "let own = invocation % 32u * (WORKGROUP / 32u) + invocation / 32u;
                 let n = workgroup_number(workgroup) * WORKGROUP + own;\n    if (n >=",
            )
        }),
        ("scalar stores for a vector store", |text| {
            match text.contains("alias Vector = vec4") {
                true => text.replace(
                    "output[geometry.output_offset + n] = vector_of(words_of_fold(fold));",
                    "let at = geometry.output_offset + n;
                 let words = words_of_fold(fold);
                 output[at].x = words.x;
                 output[at].y = words.y;
                 output[at].z = words.z;
                 output[at].w = words.w;",
                ),
                false => text,
            }
        }),
    ];
    let stores = ("bag f32 16".to_owned(), "stores of output".to_owned());
    let mut cases = cases();
    cases.retain(|case| matches!(case.kind, Kind::Bags(DType::F32, ..)));
    let check = |(name, fault): (&str, Fault)| {
        let wrong = match Bench::new(BINDINGS[0], Some(fault)) {
            Err(error) => Some(error),
            Ok(bench) => {
                let mut tally = Tally::default();
                let table = run(&bench, &cases, &mut tally);
                let said = beyond(&table).contains_key(&stores) && tally.failed.is_empty();
                (!said).then(|| format!("it is not beyond the bounds:\n{table}"))
            }
        };
        (name.to_owned(), wrong)
    };
    faults.map(check).to_vec()
}
