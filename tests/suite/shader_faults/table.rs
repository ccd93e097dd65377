//! The faults: where each is planted in the shaders' text, and on which device it shows.

use crate::planted::{Change, plant};

pub(crate) type Fault = (&'static str, Device, Change);

/// Where a fault shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Device {
    /// On a device with all that the adapter has.
    Whole,
    /// Where few workgroups fit a dimension, so that an invocation takes several parts of a row.
    FewWorkgroups,
    /// Where bindings are so small that params lie in several segments.
    Segments,
}

use Device::{FewWorkgroups, Segments, Whole};

pub(crate) const SHADER_FAULTS: &[Fault] = &[
    ("none", Whole, |s| s),
    ("none", FewWorkgroups, |s| s),
    ("none", Segments, |s| s),
    ("stride off by one", Whole, |s| {
        plant(s, "fn look_up", "count.x * c.y", "count.x * (c.y + 1u)")
    }),
    ("coordinates swapped", Whole, |s| {
        let swapped = "geometry.coordinates[geometry.depth - 1u - k]";
        plant(s, "fn look_up", "geometry.coordinates[k]", swapped)
    }),
    ("outermost loop dropped", Whole, |s| {
        let dropped = "step(geometry.loops[0], select(rest, 0u, geometry.loop_count > 1u), &at);";
        plant(
            s,
            "fn place",
            "step(geometry.loops[0], rest, &at);",
            dropped,
        )
    }),
    ("bound <= for <", Whole, |s| {
        plant(
            s,
            "fn is_inside",
            "value.x < extent.x",
            "value.x <= extent.x",
        )
    }),
    ("truncation of i64", Whole, |s| {
        plant(s, "fn load_index", "indices[(at << step) + step]", "0u")
    }),
    ("zero by multiplication", Whole, |s| {
        // Only where zeros belong: a NaN survives, and a negative number leaves its sign. The
        // factor is 0 for every call of one workgroup, which no compiler knows.
        let product =
            "let zero = bitcast<Vector>(bitcast<f32>(vector) * f32(geometry.grid_x - 1u));
            return select(zero, vector, source.valid);";
        if s.contains("alias Vector = u32;") {
            let from = "return select(fill_vector(fill_column(column)), vector, source.valid);";
            plant(s, "fn or_fill_vector", from, product)
        } else {
            s
        }
    }),
    ("flat-offset bound check", Whole, |s| {
        let part = "fn look_up";
        let s = plant(s, part, "(*source).valid = false;", "");
        plant(
            s,
            part,
            "\n    return source;",
            "\n    source.valid = source.params < arrayLength(&params); return source;",
        )
    }),
    ("f16 passed through arithmetic", Whole, |s| {
        let rounded = "let halves = unpack2x16float(funnel(low, high, byte));
            let rows = f32(geometry.row_count);
            return or_fill(pack2x16float(halves * rows / rows), source, column);";
        let from = "return or_fill(funnel(low, high, byte), source, column);";
        plant(s, "fn load_bytes", from, rounded)
    }),
    ("last partial word dropped", Whole, |s| {
        plant(
            s,
            "fn load_bytes",
            "if (first >= end)",
            "if (end - min(first, end) < 4u)",
        )
    }),
    ("negative from the end twice", Whole, |s| {
        plant(
            s,
            "fn resolve",
            "select(0u, extent.x, from_end)",
            "select(0u, 2u * extent.x, from_end)",
        )
    }),
    ("fill value of the wrong column", Whole, |s| {
        plant(
            s,
            "fn fill_byte",
            "byte = n % geometry.fill_length",
            "byte = 0u",
        )
    }),
    ("fill value of words left out", Whole, |s| {
        plant(s, "fn fill_bytes", "= geometry.fill[0].x;", "= 0u;")
    }),
    ("fill value of the wrong access", Whole, |s| {
        let from = "n = column % geometry.fill_length;";
        plant(s, "fn fill_column", from, "")
    }),
    ("clipped to the first", Whole, |s| {
        let from = "select(last, vec2(0u), is_negative(value))";
        plant(s, "fn resolve", from, "vec2(0u)")
    }),
    ("clipped to the last", Whole, |s| {
        let from = "select(last, vec2(0u), is_negative(value))";
        plant(s, "fn resolve", from, "last")
    }),
    ("modulo of the low word only", Whole, |s| {
        plant(
            s,
            "fn modulo",
            "let magnitude = select(index,",
            "let magnitude = select(vec2(index.x, 0u),",
        )
    }),
    ("carry of a division lost", Whole, |s| {
        plant(s, "fn divide", "+ (other >> 16u)", "")
    }),
    ("last of four elements twice", Whole, |s| {
        plant(s, "at_d", "fetch(source_d, 0u)", "fetch(source_c, 0u)")
    }),
    ("another row wraps around: rows", Whole, |s| {
        plant(
            s,
            "other_to",
            "wrapped(other_at, other)",
            "wrapped(at, other)",
        )
    }),
    ("another row wraps around: elements", Whole, |s| {
        plant(
            s,
            "at_d",
            "wrapped(at_d, source_d)",
            "wrapped(at_c, source_d)",
        )
    }),
    ("another row wraps around: elements_x4", Whole, |s| {
        plant(s, "fn advance", "wrapped(at_d, d)", "wrapped(at_a, d)")
    }),
    ("another row wraps around: bytes", Whole, |s| {
        let part = "byte_mask(geometry.row_length - column)";
        plant(s, part, "wrapped(next_at, next)", "wrapped(at, next)")
    }),
    ("another row wraps around: bytes_x4", Whole, |s| {
        plant(
            s,
            "fn byte_masks",
            "wrapped(next_at, next)",
            "wrapped(at, next)",
        )
    }),
    ("another row wraps around: subword", Whole, |s| {
        plant(
            s,
            "fn start_at",
            "wrapped(b.at, source_b)",
            "wrapped(a.at, source_b)",
        )
    }),
    ("run of elements that stands still", Whole, |s| {
        plant(s, "fn advance", "advance(at_a, 3u)", "advance(at_a, 2u)")
    }),
    ("second row of a pair left out", Whole, |s| {
        plant(s, "other_to", "(next < geometry.row_count)", "false")
    }),
    ("next row a byte too early", Whole, |s| {
        plant(s, "fn load_vector", "0u - left", "1u - left")
    }),
    ("first access of a word for the second", Whole, |s| {
        let from = "or_fill_subword(word_a, source_a, a.column)";
        let to = "or_fill_subword(word_b, source_b, b.column)";
        plant(s, "fn fetch_word", from, to)
    }),
    ("walk that stands still", Whole, |s| {
        plant(s, "fn walk", "at.indices += geometry.walk_indices;", "")
    }),
    ("walk without a carry", Whole, |s| {
        plant(s, "fn walk", "*carry = select(0u, 1u, over);", "")
    }),
    ("walk beyond the end of a loop", Whole, |s| {
        plant(s, "fn walk", "next >= l.x", "next > l.x")
    }),
    ("walk that leaves a row before its end", Whole, |s| {
        let from = "at.indices = select(before.indices, at.indices, there);";
        plant(
            s,
            "fn walk",
            from,
            "at.indices = select(0u, at.indices, there);",
        )
    }),
    ("rows of a word that do not end", Whole, |s| {
        let from = "let ends = column == geometry.row_length;";
        plant(s, "fn fetch_word", from, "let ends = false;")
    }),
    ("bad lookups counted per coordinate", Whole, |s| {
        plant(s, "fn is_bad", "bad = bad |", "bad =")
    }),
    ("last bad index for the first", Whole, |s| {
        plant(
            s,
            "fn is_bad",
            "lowest = min(lowest, lookup)",
            "lowest = lookup",
        )
    }),
    // The loops and early exits, as a compiler may get them wrong.
    ("validity of the last coordinate alone", Whole, |s| {
        plant(
            s,
            "fn look_up",
            "if (!coordinate.valid) {",
            "(*source).valid = true; if (!coordinate.valid) {",
        )
    }),
    ("position by the last coordinate alone", Whole, |s| {
        plant(
            s,
            "fn look_up",
            "(*source).params += count.x",
            "(*source).params = count.x",
        )
    }),
    ("loops that all count from the row number", Whole, |s| {
        plant(
            s,
            "fn place",
            "rest = take_apart(rest, d - 1u, &at).x;",
            "rest = take_apart(row, d - 1u, &at).x;",
        )
    }),
    ("last bit of a modulo left out", Whole, |s| {
        plant(
            s,
            "fn modulo",
            "select(32u, 0u, short)",
            "select(31u, 0u, short)",
        )
    }),
    ("last bit of a long division left out", Segments, |s| {
        plant(
            s,
            "fn modulo",
            "select(64u, 0u, is_less",
            "select(63u, 0u, is_less",
        )
    }),
    ("values of the first coordinate for all", Whole, |s| {
        let from = "let index = load_index(at.indices + k * geometry.index_step);
        atomicStore";
        let to = "let index = load_index(at.indices);
        atomicStore";
        plant(s, "fn locate", from, to)
    }),
    ("first bad lookup of each dispatch located", Segments, |s| {
        plant(s, "fn locate", " || atomicLoad(&status[3]) != 0u", "")
    }),
    ("one part of a long row", FewWorkgroups, |s| {
        let step = "a += geometry.chunks * span";
        plant(s, "other_to", step, "a += geometry.row_length")
    }),
    ("last segment alone", Segments, |s| {
        plant(
            s,
            "fn is_from",
            "segment = select(segment, n, further);",
            "segment = select(0u, n, further);",
        )
    }),
    (
        "first access of a segment in the one before",
        Segments,
        |s| {
            plant(
                s,
                "fn is_from",
                "return !is_less(position, first);",
                "return is_less(first, position);",
            )
        },
    ),
    ("flag that nobody raises", Whole, |s| {
        plant(s, "fn raise_flag", "Out(RAISED)", "Out(0u)")
    }),
    ("flag for the last bad row alone", Whole, |s| {
        let from = "raise_flag(source_a.valid & source_b.valid & source_c.valid & source_d.valid)";
        match s.contains(from) {
            true => plant(s, "fn raise_flag", from, "raise_flag(source_d.valid)"),
            false => s,
        }
    }),
    ("first lookup of an invocation checked alone", Whole, |s| {
        plant(
            s,
            "fn is_bad",
            "lookup < end",
            "lookup < min(end, first + WORKGROUP)",
        )
    }),
    ("no barrier after bad lookups are counted", Whole, |s| {
        plant(s, "fn is_bad", "storageBarrier(); // after the counts", "")
    }),
    ("bad lookups of one invocation counted", Whole, |s| {
        let alone = "count_from(invocation, unless";
        plant(
            s,
            "fn is_bad",
            alone,
            "count_from(invocation * WORKGROUP, unless",
        )
    }),
    ("wrapped coordinates one behind another", Whole, |s| {
        let from = "add_steps(modulo(load_component(at, k), extent_of(c), c.zw), c, &found);";
        let to = "found.params = at.params; add_steps(modulo(load_component(at, k), extent_of(c), c.zw), c, &found);";
        plant(s, "fn look_up", from, to)
    }),
    ("good rows wrapped for the bad ones", Whole, |s| {
        plant(
            s,
            "fn wrapped",
            "if (!source.valid) {",
            "if (source.valid) {",
        )
    }),
    ("extents of a check in one word", Whole, |s| {
        plant(
            s,
            "fn is_bad",
            "return is_less(value, extent);",
            "return value.x < extent.x;",
        )
    }),
    ("last row left out: rows", Whole, |s| {
        exit_early(
            s,
            "other_to",
            "row >= geometry.row_count",
            "row + 1u >= geometry.row_count",
        )
    }),
    ("last row left out: elements", Whole, |s| {
        exit_early(
            s,
            "at_d",
            "a >= geometry.row_count",
            "a + 1u >= geometry.row_count",
        )
    }),
    ("last row left out: elements_x4", Whole, |s| {
        exit_early(
            s,
            "fn advance",
            "first >= geometry.row_count",
            "first + 4u >= geometry.row_count",
        )
    }),
    ("last word left out: bytes_x4", Whole, |s| {
        let from = "vector * 16u >= total + skipped";
        exit_early(
            s,
            "fn load_vector",
            from,
            "vector * 16u + 16u >= total + skipped",
        )
    }),
    ("last partial word dropped: bytes_x4", Whole, |s| {
        let from = "byte_masks(mine.end) &";
        plant(s, from, from, "byte_masks(mine.end & ~3u) &")
    }),
    ("last word left out: subword", Whole, |s| {
        let from = "word * per_word >= total + skipped";
        exit_early(
            s,
            "fn fetch_word",
            from,
            "(word + 1u) * per_word >= total + skipped",
        )
    }),
];

/// Changes the condition of an early exit.
fn exit_early(source: String, part: &str, from: &str, to: &str) -> String {
    plant(source, part, &format!("if ({from})"), &format!("if ({to})"))
}
