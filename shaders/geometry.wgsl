// Uniform block of the copy kernels: the loop nest, in accesses.
//
// An access is the unit of a load and a store: a vector of 1, 2 or 4 words (`Vector`), or 1 or 2 bytes in the
// kernels that assemble words. Strides and offsets count accesses of params, indices of
// indices. They are two's complement: sums wrap and come out right, because the host checked that
// every element lies within its binding.

struct Geometry {
    loops: array<vec4<u32>, 32>,       // extent, params stride, indices stride; high word of the
                                       // params stride, or if LOOPS > 0 the steps in a walk;
                                       // outermost first
    coordinates: array<vec4<u32>, 32>, // extent, params stride; the high words of the stride and the
                                       // extent if WIDE, else multiplier and shift to divide by it
    divisors: array<vec4<u32>, 32>,    // of each loop: multiplier and shift to divide by its extent; the
                                       // carry of a walk, in params and in indices: back to its
                                       // start, and one step of the enclosing loop
    fill: array<vec4<u32>, 16>,        // written for a bad index
    segments: array<vec4<u32>, 8>,     // of params: first access (two words); offset to add to an
                                       // access to get its place in the binding
    loop_count: u32,
    depth: u32,           // coordinates (K)
    index_step: u32,      // stride of the components of an index tuple
    params_offset: u32,
    indices_offset: u32,
    output_offset: u32,
    row_count: u32,       // rows of this dispatch; each has a lookup of its own
    row_length: u32,      // accesses in a row
    fill_length: u32,     // period of the fill value in accesses; at least 4 in kernels that assemble
                          // words
    grid_x: u32,          // workgroups in x; y counts on from there
    chunks: u32,          // workgroups in z: parts of long rows
    sharers_log2: u32,      // invocations that share a row
    paired: u32,          // 1: an invocation copies from two rows
    index_rules: u32,     // see index.wgsl
    row_divisor: vec2<u32>, // to divide by row_length
    first_lookup: u32,    // position of the first lookup of a check, low and high word
    first_lookup_high: u32,
    params_offset_high: u32,
    owned_to: u32,        // end of the part of params that this pass reads, low and high word
    owned_to_high: u32,
    fills: u32,           // 1: this pass writes the fill value for bad indices
    walk_params: u32,     // strides of a walk
    walk_indices: u32,
    flag_at: u32,         // position of the flag in the output: in accesses, or in words for a check
    first_row: u32,       // the keys of a scatter: the row that the dispatch starts with,
    key_count: u32,       // and how many keys there are
}

// Most gathers need only a part of this file and of index.wgsl. Their pipelines are specialised by these
// constants, which saves registers, and time on devices that execute both sides of a branch. `NestSize` in
// src/plan/nest_size.rs lists the combinations.
override LOOPS: u32 = 0u;     // 1, 2 or 4; 0: any number. The host adds loops of one step.
override DEPTH: u32 = 0u;     // 1, or up to 3 coordinates; 0: any number
override WIDE: bool = false;  // positions in params take 64 bits

const WORKGROUP = 256u;
// Value of a raised flag.
const RAISED = 0x7261697du;

@group(0) @binding(0) var<uniform> geometry: Geometry;
@group(0) @binding(1) var<storage, read> indices: array<u32>;

// At most 65,535 workgroups fit one dimension of a dispatch.
fn workgroup_number(id: vec3<u32>) -> u32 {
    return id.y * geometry.grid_x + id.x;
}

// Position of a row's lookup in indices, and of its accesses in params before the looked-up coordinates are
// added.
struct Place {
    params: u32,
    indices: u32,
    params_high: u32, // if WIDE
    steps: vec3<u32>, // step in each loop but the outermost, if LOOPS > 1
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
    // The remainder is the step of the outermost loop; without loops, its strides are 0.
    step(geometry.loops[0], rest, &at);
    return at;
}

// Advances `at` by `count` steps of a loop.
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

// Divides by the extent of loop `d` and advances `at` by the remainder, the step of that loop. Returns quotient
// and remainder.
fn take_apart(row: u32, d: u32, at: ptr<function, Place>) -> vec2<u32> {
    let l = geometry.loops[d];
    let outer = divide(row, geometry.divisors[d].xy);
    let count = row - outer * l.x;
    step(l, count, at);
    return vec2(outer, count);
}

// Advances from `before` by a walk of constant length to `row`, digit by digit with carries instead of
// divisions. Returns `before` if there is no such row.
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

// The step of loop `d` after a walk from step `count`. Past the end it wraps to the start, and carries one into
// the enclosing loop.
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
