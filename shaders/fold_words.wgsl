// Units of one word or two, in as many lanes.

const LANES = 1u; // lanes that are folded; 64-bit values take two

override UNIT_WORDS: u32 = 1u;

@group(0) @binding(2) var<storage, read> updates: array<u32>;
@group(0) @binding(3) var<storage, read_write> destination: array<u32>;

fn load_update(at: u32) -> vec4<u32> {
    var bits = vec4(updates[UNIT_WORDS * at], 0u, 0u, 0u);
    if (UNIT_WORDS == 2u) {
        bits.y = updates[2u * at + 1u];
    }
    return bits;
}

fn load_destination(at: u32) -> vec4<u32> {
    var bits = vec4(destination[UNIT_WORDS * at], 0u, 0u, 0u);
    if (UNIT_WORDS == 2u) {
        bits.y = destination[2u * at + 1u];
    }
    return bits;
}

fn store_destination(at: u32, before: vec4<u32>, bits: vec4<u32>) {
    destination[UNIT_WORDS * at] = bits.x;
    if (UNIT_WORDS == 2u) {
        destination[2u * at + 1u] = bits.y;
    }
}
