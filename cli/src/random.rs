//! Random calls, and how one that went wrong is shown.

use std::fmt::Write;

use anyhow::Result;
use gather_conformance::{Call, LargeCall};
use serde_json::{Value, json};
use wgpu_gather::{Executor, Layout, Op};

use crate::backend::Chosen;

/// The most index values that a report shows.
const MAX_VALUES: usize = 48;

/// Which random calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Gathers of up to some thousand elements.
    Gathers,
    /// Scatters, gradients and pooled lookups in which much accumulates.
    Large,
}

/// A call of either kind.
#[derive(Debug)]
#[cfg_attr(
    not(feature = "random"),
    expect(dead_code, reason = "searches make them")
)]
pub(crate) enum RandomCall {
    Gather(Box<Call>),
    Large(Box<LargeCall>),
}

/// A random call on which an executor and the reference disagree.
pub(crate) struct Found {
    /// How many calls agreed before it.
    pub(crate) agreed: u32,
    /// The seed whose first call it is.
    pub(crate) seed: u64,
    /// What is different.
    pub(crate) difference: String,
    /// The call, as small as it could be made.
    pub(crate) call: RandomCall,
    /// What the library makes the call from.
    choices: Vec<u32>,
}

/// What is wrong with a call, the call, and its choices.
type Wrong = (String, RandomCall, Vec<u32>);

/// Checks the first call of a seed.
pub(crate) type CheckFirst = fn(&Executor, u64) -> Option<Wrong>;

/// How calls of a kind are made and checked, if this build can.
pub(crate) fn check_first(kind: Kind) -> Result<CheckFirst> {
    #[cfg(feature = "random")]
    return Ok(match kind {
        Kind::Gathers => searches::gather,
        Kind::Large => searches::large,
    });
    #[cfg(not(feature = "random"))]
    anyhow::bail!(crate::features::NotBuilt {
        option: match kind {
            Kind::Gathers => "--random",
            Kind::Large => "--random --large",
        },
        feature: "random"
    })
}

/// Checks `count` random calls up to the first that goes wrong; `done` is told how many are.
///
/// Each call has a seed of its own, so that one which went wrong after hours is found again at once.
pub(crate) fn check(
    executor: &Executor,
    check_first: CheckFirst,
    count: u32,
    seed: u64,
    done: impl Fn(u32),
) -> Option<Found> {
    (0..count).find_map(|n| {
        let seed = nth_seed(seed, n);
        let wrong = check_first(executor, seed);
        done(n + 1);
        wrong.map(|(difference, call, choices)| Found {
            agreed: n,
            seed,
            difference,
            call,
            choices,
        })
    })
}

#[cfg(feature = "random")]
mod searches {
    use gather_conformance::{search, search_large};
    use wgpu_gather::Executor;

    use super::{RandomCall, Wrong};

    pub(super) fn gather(executor: &Executor, seed: u64) -> Option<Wrong> {
        let found = *search(executor, 1, seed, || ()).err()?;
        let call = RandomCall::Gather(Box::new(found.call));
        Some((found.difference, call, found.choices))
    }

    pub(super) fn large(executor: &Executor, seed: u64) -> Option<Wrong> {
        let found = *search_large(executor, 1, seed, || ()).err()?;
        let call = RandomCall::Large(Box::new(found.call));
        Some((found.difference, call, found.choices))
    }
}

/// The seed of call `n`: of the first `seed` itself, of the others numbers that runs with the seeds
/// next to it do not meet (SplitMix64).
fn nth_seed(seed: u64, n: u32) -> u64 {
    if n == 0 {
        return seed;
    }
    let z = u64::from(n).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = scrambled(seed).wrapping_add(z);
    scrambled(z)
}

fn scrambled(z: u64) -> u64 {
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

impl Found {
    /// `random call of seed 7`.
    pub(crate) fn label(&self) -> String {
        format!("random call of seed {}", self.seed)
    }

    /// The call for people, in lines that each start with `indent`.
    pub(crate) fn describe(&self, chosen: &Chosen, indent: &str) -> String {
        let mut rows = match &self.call {
            RandomCall::Gather(call) => gather_rows(call),
            RandomCall::Large(call) => vec![("call", call.to_string())],
        };
        rows.push(("again", self.again(&chosen.executor)));
        let mut text = String::new();
        for (name, value) in rows {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{indent}{name:<9} {value}");
        }
        text
    }

    /// The call for programs.
    pub(crate) fn json(&self) -> Value {
        let mut all = match &self.call {
            RandomCall::Gather(call) => gather_json(call),
            RandomCall::Large(call) => json!({ "call": call.to_string() }),
        };
        all["seed"] = json!(self.seed);
        all["difference"] = json!(self.difference);
        all["choices"] = json!(self.choices);
        all
    }

    /// The command that makes the call again, on the same executor.
    fn again(&self, executor: &Executor) -> String {
        let on = match executor {
            Executor::Reference => "--backend reference".to_owned(),
            Executor::Cpu => "--backend cpu".to_owned(),
            Executor::Gpu(engine) => format!("--adapter \"{}\"", engine.adapter().label()),
        };
        let large = match self.call {
            RandomCall::Gather(_) => "",
            RandomCall::Large(_) => " --large",
        };
        format!(
            "wgpu-gather verify --random 1{large} --seed {} {on}",
            self.seed
        )
    }
}

/// What a gather depends on, with a name for each.
fn gather_rows(call: &Call) -> Vec<(&'static str, String)> {
    let rules = format!(
        "negative {}, out of bounds {}, shapes as {}",
        call.rules.negative, call.rules.out_of_bounds, call.rules.elements_shapes
    );
    let (bytes, index_type) = (call.element_bytes, call.index_type.name());
    let unit = if bytes == 1 { "byte" } else { "bytes" };
    let params = layout_text(&call.params_layout);
    let indices = layout_text(&call.indices_layout);
    vec![
        ("operator", call.op.to_string()),
        ("rules", rules),
        ("params", format!("{params}, elements of {bytes} {unit}")),
        ("indices", format!("{indices}, {index_type}")),
        ("values", values_text(&call.index_values())),
    ]
}

fn gather_json(call: &Call) -> Value {
    let (axis, batch_dims) = attributes(call.op);
    let layout = |layout: &Layout| {
        json!({
            "shape": layout.shape(),
            "strides": layout.strides(),
            "offset": layout.offset(),
        })
    };
    json!({
        "op": call.op.kind().to_string(),
        "axis": axis,
        "batch_dims": batch_dims,
        "rules": {
            "negative": call.rules.negative.name(),
            "out_of_bounds": call.rules.out_of_bounds.to_string(),
            "shapes": call.rules.elements_shapes.name(),
        },
        "element_bytes": call.element_bytes,
        "params": layout(&call.params_layout),
        "index_type": call.index_type.name(),
        "indices": layout(&call.indices_layout),
        "values": call.index_values(),
    })
}

/// Axis and batch dims, where the operator has them.
fn attributes(op: Op) -> (Option<isize>, Option<isize>) {
    (op.axis(), op.batch_dims())
}

fn layout_text(layout: &Layout) -> String {
    let (shape, strides, offset) = (layout.shape(), layout.strides(), layout.offset());
    format!("shape {shape:?}, strides {strides:?}, offset {offset}")
}

fn values_text(values: &[i128]) -> String {
    let shown = values.iter().take(MAX_VALUES).map(i128::to_string);
    let shown = shown.collect::<Vec<_>>().join(", ");
    match values.len().checked_sub(MAX_VALUES) {
        Some(more @ 1..) => format!("[{shown}, … and {more} more]"),
        _ => format!("[{shown}]"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    #[cfg(feature = "random")]
    use wgpu_gather::gpu::{Engine, adapters, internals};
    use wgpu_gather::{ElementsShapes, Fill, IndexType, Negative, OutOfBounds, Rules};

    use super::*;

    fn chosen(executor: Executor) -> Chosen {
        Chosen {
            executor,
            reason: None,
        }
    }

    fn found(indices: usize) -> Found {
        let data = (0..indices as i64).map(|n| n - 1);
        let call = Call {
            op: Op::Gather {
                axis: Some(-1),
                batch_dims: 0,
            },
            rules: Rules::new(
                Negative::FromEnd,
                OutOfBounds::Fill(Fill::from_bytes(&[0x34, 0x12])),
            )
            .with_elements_shapes(ElementsShapes::Torch),
            element_bytes: 2,
            params: vec![0; 14],
            params_layout: Layout::strided(&[2, 3], &[3, -1], 2).unwrap(),
            index_type: IndexType::I64,
            indices: data.flat_map(i64::to_le_bytes).collect(),
            indices_layout: Layout::contiguous(&[indices]),
        };
        Found {
            agreed: 12,
            seed: 7,
            difference: "output[0] is 0100, expected 0201".to_owned(),
            call: RandomCall::Gather(Box::new(call)),
            choices: vec![5],
        }
    }

    #[test]
    fn a_call_is_shown_with_all_that_it_depends_on() {
        let text = found(3).describe(&chosen(Executor::Cpu), "  ");
        assert_eq!(
            text,
            "  operator  gather(axis=-1)
  rules     negative from-end, out of bounds fill=0x1234, shapes as torch
  params    shape [2, 3], strides [3, -1], offset 2, elements of 2 bytes
  indices   shape [3], strides [1], offset 0, i64
  values    [-1, 0, 1]
  again     wgpu-gather verify --random 1 --seed 7 --backend cpu
"
        );
    }

    #[test]
    fn programs_get_every_index_and_people_some() {
        let found = found(50);
        let text = found.describe(&chosen(Executor::Cpu), "");
        assert!(text.contains(", 45, 46, … and 2 more]\n"), "{text}");
        let said = found.json();
        assert_eq!(said["values"].as_array().unwrap().len(), 50);
        assert_eq!((&said["axis"], &said["seed"]), (&(-1).into(), &7.into()));
        assert_eq!(said["params"]["strides"], json!([3, -1]));
    }

    #[test]
    fn the_first_call_has_the_seed_itself_and_neighbours_share_nothing() {
        let mut seen = HashSet::new();
        for seed in 0..20 {
            assert_eq!(nth_seed(seed, 0), seed);
            assert!((1..1000).all(|n| seen.insert(nth_seed(seed, n))));
        }
    }

    #[cfg(feature = "random")]
    #[test]
    fn a_planted_fault_is_found_and_found_again_by_its_seed() {
        let reads_one_off = |source: String| source.replace("count * l.z", "count * (l.z | 1u)");
        for adapter in adapters().wait() {
            let label = adapter.label();
            let good = Engine::headless(Some(&label)).wait().unwrap();
            let (device, queue) = (good.device().clone(), good.queue().clone());
            let options = internals::with_fault(reads_one_off);
            let faulty = Engine::with_options(device, queue, options);
            let faulty = Executor::Gpu(faulty.wait().unwrap());

            let gathers = check_first(Kind::Gathers).unwrap();
            let first = check(&faulty, gathers, 2000, 0, |_| ()).expect("the fault is found");
            let again = check(&faulty, gathers, 1, first.seed, |_| ()).expect("it is found again");
            assert_eq!(again.choices, first.choices);
            assert_eq!((again.agreed, again.seed), (0, first.seed));
            let text = first.describe(&chosen(faulty), "");
            let repeat = format!("--seed {} --adapter \"{label}\"\n", first.seed);
            assert!(text.ends_with(&repeat), "{text}");
            assert!(check(&Executor::Gpu(good), gathers, 1, first.seed, |_| ()).is_none());
        }
    }
}
