// Sizes an indirect dispatch from a count on the device: writes the number of rows into the uniform block of
// the kernel, and the number of workgroups into the indirect arguments.

struct IndirectArgs {
    entries_before: u32,  // entries of indices whose rows lie before this pass
    entries_through: u32, // as many entries, counted from those, need every row of the pass
    rows_per_entry: u32,
    rows_before: u32,     // rows of the first of those entries that lie before this pass
    row_count: u32,       // rows of the pass
    scale: u32,           // workgroups: (rows * scale + lead) / span, rounded up
    lead: u32,
    span: u32,
    max_workgroups: u32,  // in one dimension
    chunks: u32,          // workgroups in z
    row_count_word: u32,  // where the block has the number of rows
    grid_x_word: u32,     // and the workgroups in x
    count_word: u32,      // where the count is in its binding
}

@group(0) @binding(0) var<uniform> args: IndirectArgs;
@group(0) @binding(1) var<storage, read> count: array<u32>;
@group(0) @binding(2) var<storage, read_write> block: array<u32>;
@group(0) @binding(3) var<storage, read_write> arguments: array<u32>;

@compute @workgroup_size(1)
fn main() {
    let entries = max(count[args.count_word], args.entries_before) - args.entries_before;
    var rows = 0u;
    if (entries >= args.entries_through) {
        rows = args.row_count;
    } else if (entries > 0u) { // fewer rows than the pass has, so nothing wraps in the end
        rows = entries * args.rows_per_entry - args.rows_before;
    }
    var groups = 0u;
    if (rows > 0u) {
        groups = (rows * args.scale + args.lead + args.span - 1u) / args.span;
    }
    let x = min(groups, args.max_workgroups);
    block[args.row_count_word] = rows;
    block[args.grid_x_word] = x;
    arguments[0] = x;
    arguments[1] = (groups + max(x, 1u) - 1u) / max(x, 1u);
    arguments[2] = args.chunks;
}
