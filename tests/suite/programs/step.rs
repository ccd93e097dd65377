//! Steps of programs. Numbers choose among what there is, modulo how much that is: so a program stays one
//! when steps are taken out of it.

use proptest::prelude::*;

/// A step.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    /// The engines that a program has: its first step. Without it, it has the first one.
    Start {
        engines: u8,
    },
    /// A new tensor.
    Upload {
        engine: u8,
        dtype: u8,
        shape: Vec<u8>,
        seed: u16,
    },
    /// A view of a tensor: a slice, dims in another order, a repetition, another shape.
    View {
        of: u8,
        how: u8,
        a: u8,
        b: u8,
    },
    Clone {
        of: u8,
    },
    Drop {
        of: u8,
    },
    Gather {
        op: u8,
        params: u8,
        indices: u8,
        rules: u8,
        into: u8,
        stray: u8,
    },
    Scatter {
        op: u8,
        to: u8,
        indices: u8,
        updates: u8,
        rules: u8,
        reduce: u8,
        into: bool,
        stray: u8,
    },
    Gradient {
        op: u8,
        like: u8,
        indices: u8,
        updates: u8,
        rules: u8,
    },
    Bag {
        params: u8,
        indices: u8,
        bags: u8,
        mode: u8,
        rules: u8,
        into: bool,
        stray: u8,
    },
    /// A quantized table, and lookups in it.
    Table {
        engine: u8,
        seed: u16,
    },
    Decode {
        table: u8,
        indices: u8,
        bags: u8,
        rules: u8,
        into: bool,
    },
    /// The next steps within a batch.
    Batch {
        engine: u8,
        steps: u8,
        fails: bool,
    },
    /// A gather, a scatter or a pooled lookup into an encoder of the program: bound, recorded, or by a plan
    /// and buffers.
    Record {
        encoder: u8,
        op: u8,
        params: u8,
        indices: u8,
        output: u8,
        rules: u8,
        how: u8,
        stray: u8,
    },
    Submit {
        encoder: u8,
    },
    Forget {
        encoder: u8,
    },
    /// A write by the queue to a buffer that the program has taken.
    Write {
        to: u8,
        at: u8,
        seed: u16,
    },
    /// Host data into a tensor, by the engine.
    Put {
        to: u8,
        seed: u16,
        stray: u8,
    },
    /// A tensor in a buffer that the program has taken.
    Wrap {
        of: u8,
    },
    Flush {
        engine: u8,
    },
    Trim {
        engine: u8,
    },
    Download {
        of: u8,
        aside: bool,
    },
    Check {
        of: u8,
    },
    /// A download or a check whose future is dropped.
    Abandon {
        of: u8,
        polls: u8,
        check: bool,
    },
    /// The bad indices of a call that is not made.
    CountBad {
        op: u8,
        params: u8,
        indices: u8,
        rules: u8,
    },
    /// A callback that uses the engine.
    Callback {
        when: u8,
        params: u8,
        indices: u8,
    },
    /// The next steps while another thread is in a callback out of a submission.
    Stuck {
        engine: u8,
        steps: u8,
    },
    /// The program's own mistake, with a handler that uses the engine.
    Mistake {
        engine: u8,
        within: bool,
    },
    /// The device is destroyed.
    Lose {
        engine: u8,
    },
}

/// A program of so many steps, after the first few.
pub(super) fn program(steps: usize) -> impl Strategy<Value = Vec<Step>> {
    let rest = prop::collection::vec(step(), steps);
    (any::<u8>(), any::<u16>(), rest).prop_map(|(engines, seed, rest)| {
        let first = [
            Step::Start { engines },
            Step::Upload {
                engine: 0,
                dtype: 0,
                shape: vec![8, 7],
                seed,
            },
            Step::Upload {
                engine: 0,
                dtype: 0,
                shape: vec![4],
                seed: seed / 3,
            },
            Step::Upload {
                engine: 0,
                dtype: 1,
                shape: vec![8, 2],
                seed,
            },
            Step::Table { engine: 0, seed },
        ];
        first.into_iter().chain(rest).collect()
    })
}

fn step() -> impl Strategy<Value = Step> {
    // Most calls are given what fits.
    let stray = || prop_oneof![5 => Just(0u8), 1 => 1u8..4];
    let n = any::<u8>;
    prop_oneof![
        8 => (n(), n(), prop::collection::vec(0u8..24, 0..4), any::<u16>())
            .prop_map(|(engine, dtype, shape, seed)| Step::Upload { engine, dtype, shape, seed }),
        5 => (n(), n(), n(), n()).prop_map(|(of, how, a, b)| Step::View { of, how, a, b }),
        2 => n().prop_map(|of| Step::Clone { of }),
        3 => n().prop_map(|of| Step::Drop { of }),
        9 => (n(), n(), n(), n(), n(), stray()).prop_map(|(op, params, indices, rules, into, stray)| {
            Step::Gather { op, params, indices, rules, into, stray }
        }),
        9 => ((n(), n(), n(), n()), (n(), n(), any::<bool>(), stray())).prop_map(
            |((op, to, indices, updates), (rules, reduce, into, stray))| Step::Scatter {
                op, to, indices, updates, rules, reduce, into, stray,
            }
        ),
        2 => (n(), n(), n(), n(), n()).prop_map(|(op, like, indices, updates, rules)| {
            Step::Gradient { op, like, indices, updates, rules }
        }),
        4 => (n(), n(), n(), n(), n(), any::<bool>(), stray()).prop_map(
            |(params, indices, bags, mode, rules, into, stray)| Step::Bag {
                params, indices, bags, mode, rules, into, stray,
            }
        ),
        1 => (n(), any::<u16>()).prop_map(|(engine, seed)| Step::Table { engine, seed }),
        2 => (n(), n(), n(), n(), any::<bool>()).prop_map(|(table, indices, bags, rules, into)| {
            Step::Decode { table, indices, bags, rules, into }
        }),
        4 => (n(), 1u8..12, prop::bool::weighted(0.3))
            .prop_map(|(engine, steps, fails)| Step::Batch { engine, steps, fails }),
        8 => ((n(), n(), n(), n()), (n(), n(), n(), stray())).prop_map(
            |((encoder, op, params, indices), (output, rules, how, stray))| Step::Record {
                encoder, op, params, indices, output, rules, how, stray,
            }
        ),
        3 => n().prop_map(|encoder| Step::Submit { encoder }),
        1 => n().prop_map(|encoder| Step::Forget { encoder }),
        3 => (n(), n(), any::<u16>()).prop_map(|(to, at, seed)| Step::Write { to, at, seed }),
        3 => (n(), any::<u16>(), stray()).prop_map(|(to, seed, stray)| Step::Put { to, seed, stray }),
        1 => n().prop_map(|of| Step::Wrap { of }),
        1 => n().prop_map(|engine| Step::Flush { engine }),
        1 => n().prop_map(|engine| Step::Trim { engine }),
        6 => (n(), any::<bool>()).prop_map(|(of, aside)| Step::Download { of, aside }),
        4 => n().prop_map(|of| Step::Check { of }),
        1 => (n(), 1u8..6, any::<bool>()).prop_map(|(of, polls, check)| Step::Abandon { of, polls, check }),
        1 => (n(), n(), n(), n()).prop_map(|(op, params, indices, rules)| {
            Step::CountBad { op, params, indices, rules }
        }),
        2 => (n(), n(), n()).prop_map(|(when, params, indices)| Step::Callback { when, params, indices }),
        1 => (n(), 1u8..5).prop_map(|(engine, steps)| Step::Stuck { engine, steps }),
        1 => (n(), any::<bool>()).prop_map(|(engine, within)| Step::Mistake { engine, within }),
    ]
}
