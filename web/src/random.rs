//! Random calls of every verb on the visitor's own device, against the reference.

use gather_conformance::{
    FOLDED, Outcome, QuantizedGather, SplitMix, call_from, difference, random_bag, random_scatter,
};
use wgpu_gather::{Executor, Result};

/// What a random call does.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    Gather,
    Scatter,
    Bag,
    Quantized,
}

/// A random call: of a kind, from a number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Random {
    pub(crate) kind: Kind,
    pub(crate) seed: u64,
}

/// What a call came to.
pub(crate) struct Compared {
    /// The call, in words.
    pub(crate) name: String,
    pub(crate) outcome: Outcome,
    /// Whether the reference gives an output, which is not empty.
    pub(crate) has_output: bool,
}

impl Random {
    /// Calls of every kind, each from as many numbers.
    pub(crate) fn all(count: u64) -> impl Iterator<Item = Random> {
        let kinds = [Kind::Gather, Kind::Scatter, Kind::Bag, Kind::Quantized];
        let of = move |kind| (0..count).map(move |seed| Random { kind, seed });
        kinds.into_iter().flat_map(of)
    }

    /// Compares `executor` with the reference.
    pub(crate) async fn compare(self, executor: &Executor) -> Compared {
        let mut random = SplitMix(self.seed);
        let reference = &Executor::Reference;
        match self.kind {
            Kind::Gather => {
                let choices: Vec<u32> = (0..90).map(|_| random.draw() as u32).collect();
                let call = call_from(&choices);
                let both = [call.output(reference).await, call.output(executor).await];
                self.compared(&call, both, same)
            }
            Kind::Scatter => {
                let drawn = std::iter::repeat_with(|| random_scatter(&mut random, &FOLDED));
                let mut drawn = drawn.flatten();
                let scatter = drawn.next().expect("some shapes that fit");
                let both = [
                    scatter.output(reference).await,
                    scatter.output(executor).await,
                ];
                self.compared(&scatter, both, same)
            }
            Kind::Bag => {
                let bag = random_bag(&mut random, &FOLDED);
                let both = [bag.output(reference).await, bag.output(executor).await];
                self.compared(&bag, both, |expected, got| bag.compare(expected, got))
            }
            Kind::Quantized => {
                let call = QuantizedGather::random(self.seed);
                let both = [call.output(reference).await, call.output(executor).await];
                self.compared(&call, both, same)
            }
        }
    }

    fn compared(
        self,
        call: &impl std::fmt::Debug,
        [expected, got]: [Result<Vec<u8>>; 2],
        compare: impl FnOnce(&[u8], &[u8]) -> Option<String>,
    ) -> Compared {
        let has_output = expected.as_ref().is_ok_and(|output| !output.is_empty());
        let difference = difference(expected, got, compare);
        let with_call = |difference| Outcome::Failed(format!("{difference}\n{call:?}"));
        Compared {
            name: format!("random call {:?} {}", self.kind, self.seed),
            outcome: difference.map_or(Outcome::Passed, with_call),
            has_output,
        }
    }
}

/// The first byte that differs.
fn same(expected: &[u8], got: &[u8]) -> Option<String> {
    let at = expected.iter().zip(got).position(|(e, g)| e != g);
    let differs = |at: usize| format!("byte {at} is {}, expected {}", got[at], expected[at]);
    let lengths = || format!("{} bytes, expected {}", got.len(), expected.len());
    at.map(differs)
        .or_else(|| (expected.len() != got.len()).then(lengths))
}
