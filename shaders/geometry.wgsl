// What every copy kernel is given: the loop nest, in accesses.
//
// An access is what a kernel moves at once: a vector of 1, 2 or 4 words (`Vector`), or 1 or 2 bytes
// in the kernels that put words together. Strides and offsets count accesses of params, indices of
// indices. They are two's complement: sums wrap and come out right, because the host checked that
// every element lies within its binding.

struct Geometry {
    loops: array<vec4<u32>, 32>,       // extent, params stride, indices stride; high word of the
                                       // params stride, or if LOOPS > 0 the steps in a walk;
                                       // outermost first
    coordinates: array<vec4<u32>, 32>, // extent, params stride; the high words of the stride and the
                                       // extent if WIDE, else multiplier and shift to divide by it
    divisors: array<vec4<u32>, 32>,    // of each loop: multiplier and shift to divide by its extent;
                                       // from its end back to its start and a step of the loop
                                       // around it on, in params and in indices
    fill: array<vec4<u32>, 16>,        // what is written where an index is bad
    segments: array<vec4<u32>, 8>,     // of params: first access (two words), from one to where
                                       // the binding has it
    loop_count: u32,
    depth: u32,           // the number of coordinates
    index_step: u32,      // from one component of an index tuple to the next
    params_offset: u32,
    indices_offset: u32,
    output_offset: u32,
    row_count: u32,       // rows share no lookup
    row_length: u32,      // accesses in a row
    fill_length: u32,     // accesses after which the fill value repeats; where they are put together
                          // to words, 4 at least
    grid_x: u32,          // workgroups in x; y counts on from there
    chunks: u32,          // workgroups in z: parts of long rows
    sharers_log2: u32,      // invocations that share a row
    paired: u32,          // 1: an invocation copies of two rows
    index_rules: u32,     // see index.wgsl
    row_divisor: vec2<u32>, // to divide by row_length
    first_lookup: u32,    // the number of the first lookup of a check, and its high word
    first_lookup_high: u32,
    params_offset_high: u32,
    owned_to: u32,        // the first access of params that another pass reads, and its high word
    owned_to_high: u32,
    fills: u32,           // 1: this pass writes what bad indices leave
    walk_params: u32,     // the steps of a walk
    walk_indices: u32,
    flag_at: u32,         // the flag: an access of the output, or a word of it in a check
    first_row: u32,       // the keys of a scatter: the row that the dispatch starts with,
    key_count: u32,       // and how many keys there are
}

// What most gathers are needs little of this file and of index.wgsl. A pipeline for them leaves
// the rest out, which spares registers, and time on devices that run both sides of a branch.
// `NestSize` in src/plan/nest_size.rs has the combinations that there are.
override LOOPS: u32 = 0u;     // 1, 2 or 4; 0: any number. The host adds loops of one step.
override DEPTH: u32 = 0u;     // 1, or up to 3 coordinates; 0: any number
override WIDE: bool = false;  // positions in params take 64 bits

const WORKGROUP = 256u;
// What the flag holds if it is raised.
const RAISED = 0x7261697du;

@group(0) @binding(0) var<uniform> geometry: Geometry;
@group(0) @binding(1) var<storage, read> indices: array<u32>;

// At most 65,535 workgroups fit one dimension of a dispatch.
fn workgroup_number(id: vec3<u32>) -> u32 {
    return id.y * geometry.grid_x + id.x;
}

// Where a row's lookup lies in indices, and where its accesses lie in params before the lookup.
struct Place {
    params: u32,
    indices: u32,
    params_high: u32, // if WIDE
    steps: vec3<u32>, // of each loop but the outermost, if LOOPS > 1
}

fn place(row: u32) -> Place {
    var at = Place(
        geometry.params_offset, geometry.indices_offset, geometry.params_offset_high, vec3<u32>(),
    );
    var rest = row;
    if (LOOPS == 0u) {
        for (var d = geometry.loop_count; d > 1u; d--) {
            rest = take_apart(rest, d - 1u, &at).x;
        }
    }
    if (LOOPS > 3u) {
        let third = take_apart(rest, 3u, &at);
        let second = take_apart(third.x, 2u, &at);
        rest = second.x;
        at.steps.z = third.y;
        at.steps.y = second.y;
    }
    if (LOOPS > 1u) {
        let first = take_apart(rest, 1u, &at);
        rest = first.x;
        at.steps.x = first.y;
    }
    // The outermost loop takes what is left; without loops, its strides are 0.
    step(geometry.loops[0], rest, &at);
    return at;
}

// So many steps of a loop on.
fn step(l: vec4<u32>, count: u32, at: ptr<function, Place>) {
    (*at).indices += count * l.z;
    if (WIDE) {
        let next = add_product(vec2((*at).params, (*at).params_high), vec2(count, 0u), l.yw);
        (*at).params = next.x;
        (*at).params_high = next.y;
    } else {
        (*at).params += count * l.y;
    }
}

// Adds the step of loop `d` to `at`: the runs of that loop before, and that step.
fn take_apart(row: u32, d: u32, at: ptr<function, Place>) -> vec2<u32> {
    let l = geometry.loops[d];
    let outer = divide(row, geometry.divisors[d].xy);
    let count = row - outer * l.x;
    step(l, count, at);
    return vec2(outer, count);
}

// The place of `row`, which is a walk behind that of `before`, or `before` if there is no such row: as one
// adds digit by digit, which takes no division.
fn walk(before: Place, row: u32) -> Place {
    let there = row < geometry.row_count;
    var at = before;
    if (LOOPS == 0u) {
        at = place(select(0u, row, there));
    } else {
        at.params += geometry.walk_params;
        at.indices += geometry.walk_indices;
        var carry = 0u;
        if (LOOPS > 3u) {
            at.steps.z = walk_loop(3u, at.steps.z, &carry, &at);
            at.steps.y = walk_loop(2u, at.steps.y, &carry, &at);
        }
        if (LOOPS > 1u) {
            at.steps.x = walk_loop(1u, at.steps.x, &carry, &at);
        }
    }
    at.params = select(before.params, at.params, there);
    at.indices = select(before.indices, at.indices, there);
    at.params_high = select(before.params_high, at.params_high, there);
    at.steps = select(before.steps, at.steps, there);
    return at;
}

// The step of loop `d` after a walk from `count`. Behind its end it starts anew, and the loop around it
// takes one more.
fn walk_loop(d: u32, count: u32, carry: ptr<function, u32>, at: ptr<function, Place>) -> u32 {
    let l = geometry.loops[d];
    let back = geometry.divisors[d].zw;
    let next = count + l.w + *carry;
    let over = next >= l.x;
    (*at).params += select(0u, back.x, over);
    (*at).indices += select(0u, back.y, over);
    *carry = select(0u, 1u, over);
    return select(next, next - l.x, over);
}
