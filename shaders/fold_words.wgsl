// Units of one word or two, in as many lanes.

override UNIT_WORDS: u32 = 1u;

alias Lanes = vec2<u32>;
alias Floats = vec2<f32>;
alias Bools = vec2<bool>;

@group(0) @binding(2) var<storage, read> updates: array<u32>;
@group(0) @binding(3) var<storage, read_write> destination: array<u32>;

fn load_update(at: u32) -> Lanes {
    var bits = vec2(updates[UNIT_WORDS * at], 0u);
    if (UNIT_WORDS == 2u) {
        bits.y = updates[2u * at + 1u];
    }
    return bits;
}

fn load_destination(at: u32) -> Lanes {
    var bits = vec2(destination[UNIT_WORDS * at], 0u);
    if (UNIT_WORDS == 2u) {
        bits.y = destination[2u * at + 1u];
    }
    return bits;
}

fn store_destination(at: u32, before: Lanes, bits: Lanes) {
    destination[UNIT_WORDS * at] = bits.x;
    if (UNIT_WORDS == 2u) {
        destination[2u * at + 1u] = bits.y;
    }
}
