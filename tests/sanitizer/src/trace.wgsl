// What is put in front of every shader: `rewrite.rs` has the shader call it.

struct TraceRecord {
    site: u32,       // with the number of the dispatch in the upper half
    path: u32,       // through which calls of functions the site was come to
    invocation: u32, // its number in the dispatch; those of a workgroup follow each other
    index: u32,      // of the element
    epoch: u32,      // how many barriers for storage came before
}

struct Trace {
    cursor: atomic<u32>,                // may end beyond the records: then some are missing
    steps: array<atomic<u32>, 4096>,    // of each dispatch: the most of an invocation, and one
    barriers: array<atomic<u32>, 4096>, // the same without the one
    records: array<TraceRecord>,
}

@group(1) @binding(0) var<storage, read_write> trace: Trace;
// The number of the dispatch, and whether accesses are recorded.
@group(1) @binding(1) var<uniform> trace_dispatch: vec4<u32>;

var<private> trace_invocation: u32;
var<private> trace_path: u32;
var<private> trace_epoch: u32;
var<private> trace_steps: u32;
var<private> trace_barriers: u32;

fn trace_start(workgroup: vec3<u32>, workgroups: vec3<u32>, local: u32, size: u32) {
    let group = (workgroup.z * workgroups.y + workgroup.y) * workgroups.x + workgroup.x;
    trace_invocation = group * size + local;
}

fn trace_end() {
    atomicMax(&trace.steps[trace_dispatch.x], trace_steps + 1u);
    atomicMax(&trace.barriers[trace_dispatch.x], trace_barriers);
}

fn trace_access(site: u32, index: u32) {
    if (trace_dispatch.y == 0u) {
        return;
    }
    let at = atomicAdd(&trace.cursor, 1u);
    if (at < arrayLength(&trace.records)) {
        let number = (trace_dispatch.x << 16u) | site;
        trace.records[at] = TraceRecord(number, trace_path, trace_invocation, index, trace_epoch);
    }
}

// A call of a function, and the way back: the inverse of the factor is as odd as the factor.
fn trace_enter(place: u32) {
    trace_path = trace_path * 0x9e3779b1u + place;
}

fn trace_leave(place: u32) {
    trace_path = (trace_path - place) * 0x0e8b2f51u;
}

fn trace_barrier(storage: u32) {
    trace_barriers += 1u;
    trace_epoch += storage;
}

fn trace_step() {
    trace_steps += 1u;
}
