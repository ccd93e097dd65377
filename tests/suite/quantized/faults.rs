//! Faults planted in the shaders that decode, which the comparison must report on every adapter.

use wgpu_gather::gpu::Engine;
use wgpu_gather::{Executor, wgpu};

use super::{compared, of_few_dispatches};
use crate::common::engines;
use crate::planted::{Change, faulty, plant};
use crate::segments::limits;
use gather_conformance::QuantizedGather;

/// Where a fault shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum On {
    /// Any device.
    Any,
    /// One of few workgroups in a dimension.
    FewWorkgroups,
    /// One of small bindings.
    Windows,
}

use On::{Any, FewWorkgroups, Windows};

type Fault = (&'static str, On, Change);

pub(crate) const DECODE_FAULTS: &[Fault] = &[
    ("none", Any, |s| s),
    ("none", FewWorkgroups, |s| s),
    ("none", Windows, |s| s),
    ("nibbles in the other order", Any, |s| {
        plant(s, "fn nibbles", "(4u * (n >> 4u))", "(4u - 4u * (n >> 4u))")
    }),
    ("block off by one", Any, |s| {
        let before = "(max(e >> 5u, 1u) - 1u) * 34u";
        plant(s, "* 34u", "(e >> 5u) * 34u", before)
    }),
    ("block of 256 off by one", Any, |s| {
        let before = "(max(e >> 8u, 1u) - 1u) * 210u";
        plant(s, "* 210u", "(e >> 8u) * 210u", before)
    }),
    ("zero point dropped", Any, |s| {
        plant(s, "fn zero_of", "vec4(zero_of(block))", "vec4(0)")
    }),
    ("zero point without a sign", Any, |s| {
        plant(s, "fn zero_of", "<< 24u) >> 24u", "<< 24u) >> 25u")
    }),
    ("scale of the neighbour", Any, |s| {
        plant(
            s,
            "fn scale_of",
            "scale_of(block))",
            "scale_of(block ^ 1u))",
        )
    }),
    ("scale of the row before", Any, |s| {
        let before = "table.codes_offset + (max(row, 1u) - 1u)";
        plant(s, "let tail", "table.codes_offset + row", before)
    }),
    ("scale of the first of four", Any, |s| {
        plant(s, "fn block_of", "block_of(own)", "block_of(e)")
    }),
    ("scale of another part", Any, |s| {
        plant(
            s,
            "fn scale_codes",
            "scale_and_least(block + 4u, part)",
            "scale_and_least(block + 4u, part & 3u)",
        )
    }),
    ("third bits of another part", Any, |s| {
        plant(
            s,
            "block + 96u",
            ">> vec4(n >> 5u)",
            ">> vec4((n >> 5u) ^ 1u)",
        )
    }),
    ("ties away from even", Any, |s| {
        plant(
            s,
            "fn nearest_even",
            "((value >> shift) & vec4(1u))",
            "vec4(1u)",
        )
    }),
    ("subnormals as normal numbers", Any, |s| {
        plant(
            s,
            "fn from_f16",
            "magnitude < vec4(0x400u)",
            "magnitude < vec4(0x200u)",
        )
    }),
    ("codes of two bits", Any, |s| {
        plant(s, "fn codes_of_four", "vec4(table.bits_log2)", "vec4(1u)")
    }),
    ("decoded where an index is bad", Any, |s| {
        let or_fill = "select(geometry.fill[0], four.words, valid)";
        plant(s, "struct Four", or_fill, "four.words")
    }),
    ("last row left out: decoded", Any, |s| {
        plant(
            s,
            "struct Four",
            "row >= geometry.row_count",
            "row + 1u >= geometry.row_count",
        )
    }),
    ("last word left out: decoded elements", Any, |s| {
        plant(
            s,
            "struct One",
            "word * per_word >=",
            "(word + 1u) * per_word >=",
        )
    }),
    ("one part of a long row: decoded", FewWorkgroups, |s| {
        plant(
            s,
            "struct Four",
            "a += geometry.chunks * span",
            "a += last + 1u",
        )
    }),
    ("elements of other windows", Windows, |s| {
        let own = "select(table.fills != 0u, inside, source.valid)";
        plant(s, "fn find_spot", own, "true")
    }),
    ("bad indices filled by no window", Windows, |s| {
        plant(s, "fn find_spot", "table.fills != 0u", "table.fills > 1u")
    }),
];

impl On {
    fn limits(self, engine: &Engine) -> wgpu::Limits {
        match self {
            Any => engine.device().limits(),
            FewWorkgroups => wgpu::Limits {
                max_compute_workgroups_per_dimension: 3,
                ..wgpu::Limits::downlevel_defaults()
            },
            Windows => limits(1024, 1 << 20, 4),
        }
    }

    fn cases(self) -> Box<dyn Iterator<Item = QuantizedGather>> {
        match self {
            Any => Box::new((0..600).map(QuantizedGather::random)),
            FewWorkgroups => Box::new([13_312].into_iter().map(QuantizedGather::long_row)),
            Windows => Box::new(of_few_dispatches(40, 1024, QuantizedGather::random)),
        }
    }
}

/// What the first call that differs says.
fn first_report(engine: &Engine, on: On, fault: Change) -> Option<String> {
    let executor = Executor::Gpu(faulty(engine, on.limits(engine), fault));
    on.cases()
        .find_map(|case| compared(&executor, std::iter::once(case)).first)
}

#[test]
fn faults_of_decoding_are_reported_on_every_adapter() {
    for engine in engines() {
        let label = engine.adapter().label();
        for &(name, on, fault) in DECODE_FAULTS {
            match first_report(engine, on, fault) {
                None => assert_eq!(name, "none", "{label}, {on:?}: not reported"),
                Some(why) => {
                    assert_ne!(name, "none", "{label}: {why}");
                    assert!(!why.contains("Gpu {"), "{label}: {name}: {why}");
                    println!("{label}: {name}: reported");
                }
            }
        }
    }
}
