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
        plant(
            s,
            "fn of_nibbles",
            "of_nibbles(low_nibbles(",
            "of_nibbles(high_nibbles(",
        )
    }),
    ("block off by one", Any, |s| {
        let before = "(max(a >> 5u, 1u) - 1u) * 34u";
        plant(s, "* 34u", "(a >> 5u) * 34u", before)
    }),
    ("block of 256 off by one", Any, |s| {
        let before = "(max(a >> 8u, 1u) - 1u) * 210u";
        plant(s, "* 210u", "(a >> 8u) * 210u", before)
    }),
    ("zero point dropped", Any, |s| {
        plant(s, "fn zero_of", "(sign) + zero)", "(sign))")
    }),
    ("zero point without a sign", Any, |s| {
        plant(s, "fn zero_of", "<< 24u) >> 24u", "<< 24u) >> 25u")
    }),
    ("scale of the neighbour", Any, |s| {
        plant(
            s,
            "fn scale_at",
            "scale_at(block_a)",
            "scale_at(block_a ^ 1u)",
        )
    }),
    ("scale of the row before", Any, |s| {
        let before = "table.codes_offset + (max(row, 1u) - 1u) *";
        plant(s, "let tail", "table.codes_offset + row *", before)
    }),
    ("scale of the first of four", Any, |s| {
        let first = "var block = (e & 0xfffffffcu) >> ";
        plant(s, "fn block_of", "var block = e >> ", first)
    }),
    ("odd blocks by a shift", Any, |s| {
        plant(s, "fn block_of", "option(ODD_BLOCKS)", "false")
    }),
    ("several rows taken for one", Any, |s| {
        plant(s, "fn scale_and_bias", "option(SEVERAL_ROWS)", "false")
    }),
    ("scale of the first of a pair", Any, |s| {
        plant(
            s,
            "fn scale_at",
            "scale_bits(raw.scales.y))",
            "scale_bits(raw.scales.x))",
        )
    }),
    ("scale of another part", Any, |s| {
        plant(
            s,
            "fn scale_codes",
            "parts_of(raw.parts, raw.part)",
            "parts_of(raw.parts, raw.part & 3u)",
        )
    }),
    ("third bits of another part", Any, |s| {
        plant(s, "block + 96u", ">> (n >> 5u)", ">> ((n >> 5u) ^ 1u)")
    }),
    ("ties away from even", Any, |s| {
        plant(
            s,
            "fn nearest_even",
            "((value >> shift) & vec4(1u))",
            "vec4(1u)",
        )
    }),
    ("ties away from even: plain", Any, |s| {
        plant(
            s,
            "fn plain_f16",
            "((bits >> vec4(13u)) & vec4(1u))",
            "vec4(1u)",
        )
    }),
    ("ties away from even: plain bf16", Any, |s| {
        plant(
            s,
            "fn rounded_plain",
            "((bits >> vec4(16u)) & vec4(1u))",
            "vec4(1u)",
        )
    }),
    ("subnormal halves as normal ones", Any, |s| {
        plant(
            s,
            "fn plain_f16",
            "magnitude < vec4(LEAST_NORMAL)",
            "magnitude == vec4(0.0)",
        )
    }),
    ("large scales taken for plain", Any, |s| {
        plant(s, "fn is_moderate", "< 0x4800u", "< 0x7c00u")
    }),
    ("NaNs among halves taken for plain", Any, |s| {
        let any = "& 0x80008000u) >= 0u";
        plant(s, "fn are_below", "& 0x80008000u) == 0u", any)
    }),
    ("NaNs taken for plain", Any, |s| {
        plant(s, "let nans", "(nans.x | nans.y) == 0u", "true")
    }),
    ("large scales of floats taken for plain", Any, |s| {
        plant(s, "let nans", "<= vec2(134u)", "<= vec2(246u)")
    }),
    ("subnormals as normal numbers", Any, |s| {
        plant(
            s,
            "fn from_f16",
            "min(normal, 2.0 * normal - vec4(LEAST_NORMAL))",
            "normal",
        )
    }),
    ("codes of two bits", Any, |s| {
        plant(s, "fn of_integers", "1u << table.bits_log2", "2u")
    }),
    ("decoded where an index is bad", Any, |s| {
        let or_fill = "select(geometry.fill[0], four, valid)";
        plant(s, "fn spot_of", or_fill, "four")
    }),
    ("last row left out: decoded", Any, |s| {
        plant(
            s,
            "fn spot_of",
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
        plant(s, "fn spot_of", "pair += pairs", "pair += last + 1u")
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
