// Four units of a word each, where a key, a lookup and a free step have one digit at most.

const LANES = 4u;
alias Lanes = vec4<u32>;
alias Floats = vec4<f32>;
alias Bools = vec4<bool>;

@group(0) @binding(3) var<storage, read_write> destination: array<u32>;

fn load_update(at: u32) -> Lanes {
    return vec4(updates[at], updates[at + 1u], updates[at + 2u], updates[at + 3u]);
}

fn load_destination(at: u32) -> Lanes {
    return vec4(destination[at], destination[at + 1u], destination[at + 2u], destination[at + 3u]);
}

fn store_destination(at: u32, before: Lanes, bits: Lanes) {
    destination[at] = bits.x;
    destination[at + 1u] = bits.y;
    destination[at + 2u] = bits.z;
    destination[at + 3u] = bits.w;
}

fn at_digits(first: u32, count: u32, number: u32) -> vec2<u32> {
    let digit = fold.digits[first];
    return vec2(number * digit.destination, number * digit.updates);
}
