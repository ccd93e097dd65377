// Units of one or two bytes. Several invocations may write to one word, each to bytes of its own: a single
// atomic operation changes them, and does not depend on the other bytes, so the order of writers does not
// matter.

const LANES = 1u; // lanes that are folded

override UNIT_BYTES: u32 = 1u;

@group(0) @binding(2) var<storage, read> updates: array<u32>;
@group(0) @binding(3) var<storage, read_write> destination: array<atomic<u32>>;

fn load_update(at: u32) -> vec4<u32> {
    return vec4(unit_of(updates[at / (4u / UNIT_BYTES)], at), 0u, 0u, 0u);
}

fn load_destination(at: u32) -> vec4<u32> {
    return vec4(unit_of(atomicLoad(&destination[at / (4u / UNIT_BYTES)]), at), 0u, 0u, 0u);
}

fn store_destination(at: u32, before: vec4<u32>, bits: vec4<u32>) {
    let changed = (before.x ^ bits.x) & ((1u << (8u * UNIT_BYTES)) - 1u);
    atomicXor(&destination[at / (4u / UNIT_BYTES)], changed << shift_of(at));
}

// Extracts the unit from its word.
fn unit_of(word: u32, at: u32) -> u32 {
    return (word >> shift_of(at)) & ((1u << (8u * UNIT_BYTES)) - 1u);
}

fn shift_of(at: u32) -> u32 {
    return 8u * UNIT_BYTES * (at % (4u / UNIT_BYTES));
}
