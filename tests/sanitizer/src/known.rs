//! What is beyond the bounds of the traffic table, and why.

/// Accesses by the name of a pipeline.
type Places = &'static [(&'static str, &'static str)];

pub(crate) const KNOWN: &[(Places, &str)] = &[
    (
        &[
            ("bag bf16 8", "loads of indices"),
            ("bag f32 16", "loads of indices"),
            ("bag i8 4", "loads of indices"),
            ("bytes_vec4 1", "loads of indices"),
            ("decode Q4_0 rows", "loads of indices"),
            ("decode Q8_0 rows", "loads of indices"),
            ("rows 4", "loads of indices"),
        ],
        "All invocations of a row load its index, one for a wave: a sector for each, of which the caches \
         have the rest.",
    ),
    (
        &[
            ("fold bf16 x4", "loads of pairs"),
            ("fold f16 x4", "loads of pairs"),
            ("fold f32", "loads of pairs"),
            ("fold f32 rows", "loads of pairs"),
            ("fold f32 x4", "loads of pairs"),
            ("fold i32", "loads of pairs"),
            ("fold i32 x4", "loads of pairs"),
            ("fold i8 x4", "loads of pairs"),
        ],
        "All invocations of a pair load it and its neighbour, and those of a long run one pair after the other: \
         a sector for each. To hold them in workgroup memory takes a barrier for each workgroup.",
    ),
    (
        &[
            ("elements_x4 4", "loads of indices"),
            ("subword 1", "loads of indices"),
            ("subword 2", "loads of indices"),
        ],
        "An invocation loads the indices of the elements that it packs one by one, so that it stores a whole \
         vector or word: neighbours load four words apart, of 64 bits eight, and each element of a short row loads \
         the tuple of its row. Along an axis that is not the first, all are read again for each step of the loops \
         around it.",
    ),
    (
        &[
            ("elements 4", "loads of indices"),
            ("rows 16", "loads of indices"),
        ],
        "The components of a tuple are loaded one by one: neighbours load a tuple apart.",
    ),
    (
        &[("elements 16", "loads of indices")],
        "Along an axis that is not the first, an index is read again for each step of the loops around it.",
    ),
    (
        &[
            ("decode Q4_0 rows", "loads of params"),
            ("decode Q4_0 rows", "stores of output"),
            ("decode Q8_0 rows", "loads of params"),
            ("decode Q8_0 rows", "stores of output"),
        ],
        "Blocks of 18 and 34 bytes are loaded by words, of which neighbours have some in common; eight f32 of \
         an invocation are two stores.",
    ),
    (
        &[
            ("rows 4", "loads of params"),
            ("rows 4", "stores of output"),
            ("fold f32", "loads of destination"),
            ("fold f32", "loads of updates"),
            ("fold f32", "stores of destination"),
        ],
        "Rows that are no whole sectors: waves begin within one.",
    ),
    (
        &[("bytes_vec4 1", "loads of params")],
        "Rows that begin within a word: an invocation loads the five words of params that four of the output take, \
         one by one, as neighbours load four words apart. Each sector is asked for five times, and moved once.",
    ),
    (
        &[("rows 16", "loads of params")],
        "An invocation of rows of 32 bytes has one of their two vectors, and loads it again where longer rows have \
         another.",
    ),
    (
        &[("subword 1", "loads of params")],
        "Bytes of a row that lie in two words are loaded with both.",
    ),
    (
        &[("sort count", "loads of pairs")],
        "Keys lie between the lookups.",
    ),
    (
        &[("sort move", "loads of ends")],
        "Of few tiles, each adds up the counts of all, no more bytes than its pairs have and in caches, where a dispatch \
         that adds them up would have all wait.",
    ),
    (
        &[("sort move", "stores of sorted")],
        "The pairs of a digit in a tile begin and end within a sector.",
    ),
];
