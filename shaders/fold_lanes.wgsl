// Units of all lanes, for rows of whole units whose keys, lookups and free steps have at most one digit each.

const LANES = 4u;

@group(0) @binding(2) var<storage, read> updates: array<Unit>;
@group(0) @binding(3) var<storage, read_write> destination: array<Unit>;

fn load_update(at: u32) -> vec4<u32> {
    return lanes_of(words_of(updates[at]));
}

fn load_destination(at: u32) -> vec4<u32> {
    return lanes_of(words_of(destination[at]));
}

fn store_destination(at: u32, before: vec4<u32>, bits: vec4<u32>) {
    destination[at] = unit_of(words_of_lanes(bits));
}

fn at_digits(first: u32, count: u32, number: u32) -> vec2<u32> {
    let digit = fold.digits[first];
    return vec2(number * digit.destination, number * digit.updates);
}
