// What every copy kernel is given: the loop nest, in lanes.
//
// A lane is what the kernel moves at once: `Lane` words of params and output (1, 2 or 4), or in
// the packed kernel a unit of 1 or 2 bytes. Strides and offsets count lanes of params, indices of
// indices. They are two's complement: sums wrap and come out right, because the host checked that
// every element lies within its binding.

struct Geometry {
    loops: array<vec4<u32>, 32>,       // extent, params stride, indices stride; outermost first
    coordinates: array<vec4<u32>, 32>, // extent, params stride
    fill: array<vec4<u32>, 16>,        // what is written where an index is bad
    loop_count: u32,
    depth: u32,           // the number of coordinates
    index_step: u32,      // from one component of an index tuple to the next
    params_offset: u32,
    indices_offset: u32,
    output_offset: u32,
    row_count: u32,       // rows share no lookup
    row_length: u32,      // lanes in a row
    fill_length: u32,     // lanes after which the fill value repeats
    grid_x: u32,          // workgroups in x; y counts on from there
    chunks: u32,          // workgroups in z: parts of long rows
    lanes_log2: u32,      // invocations that share a row
    index_rules: u32,     // see index.wgsl
    first_lookup: u32,    // the number of the first lookup of a check, and its high word
    first_lookup_high: u32,
}

const WORKGROUP = 256u;

@group(0) @binding(0) var<uniform> geometry: Geometry;
@group(0) @binding(1) var<storage, read> indices: array<u32>;

// At most 65,535 workgroups fit one dimension of a dispatch.
fn workgroup_number(id: vec3<u32>) -> u32 {
    return id.y * geometry.grid_x + id.x;
}

// Where a row's lookup lies in indices, and where its lanes lie in params before the lookup.
struct Place {
    params: u32,
    indices: u32,
    inner: u32, // the step of the innermost loop
}

fn place(row: u32) -> Place {
    var at = Place(geometry.params_offset, geometry.indices_offset, row);
    var rest = row;
    for (var d = geometry.loop_count; d > 0u; d--) {
        let l = geometry.loops[d - 1u];
        var step = rest;
        if (d > 1u) { // the outermost loop takes what is left
            rest = step / l.x;
            step -= rest * l.x;
        }
        if (d == geometry.loop_count) {
            at.inner = step;
        }
        at.params += step * l.y;
        at.indices += step * l.z;
    }
    return at;
}
