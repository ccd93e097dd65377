// Units of four words of a row, where a key, a lookup and a free step have one digit at most.

alias Lanes = vec4<u32>;
alias Floats = vec4<f32>;
alias Bools = vec4<bool>;

@group(0) @binding(2) var<storage, read> updates: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> destination: array<vec4<u32>>;

fn load_update(at: u32) -> Lanes {
    return updates[at];
}

fn load_destination(at: u32) -> Lanes {
    return destination[at];
}

fn store_destination(at: u32, before: Lanes, bits: Lanes) {
    destination[at] = bits;
}

fn at_digits(first: u32, count: u32, number: u32) -> vec2<u32> {
    let digit = fold.digits[first];
    return vec2(number * digit.destination, number * digit.updates);
}
