// The arithmetic of folds, on the bits of values in four lanes: one value each, but a pair of lanes, the low
// word first, for integers of 64 bits. f16 and bf16 are folded as f32. Narrow integers leave bits above their
// own. The twin on the host is src/fold.

override ELEMENT: u32 = 0u; // what the values are, as `FoldElement` in src/fold/element.rs

const F32 = 0u;
const F16 = 1u;
const BF16 = 2u;
const I8 = 3u;
const I16 = 4u;
const I32 = 5u;
const I64 = 6u;

fn is_float() -> bool {
    return ELEMENT <= BF16;
}

// The values as a fold holds them.
fn widen(bits: vec4<u32>) -> vec4<u32> {
    var values = bits;
    if (ELEMENT == F16) {
        values = from_f16(bits);
    } else if (ELEMENT == BF16) {
        values = bits << vec4(16u);
    }
    return values;
}

// The values at the end: floats are rounded to their type, and every NaN is the same one.
fn narrow(values: vec4<u32>) -> vec4<u32> {
    var bits = values;
    if (is_float()) {
        bits = select(values, vec4(QUIET_NAN), is_nan(values));
    }
    if (ELEMENT == F16) {
        bits = to_f16(bits);
    } else if (ELEMENT == BF16) {
        bits = to_bf16(bits);
    }
    return bits;
}

fn added(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    var sum = a + b;
    if (is_float()) {
        sum = bitcast<vec4<u32>>(bitcast<vec4<f32>>(a) + bitcast<vec4<f32>>(b));
    } else if (ELEMENT == I64) {
        let carry = select(vec4(0u), vec4(1u), sum < a);
        sum += vec4(0u, carry.x, 0u, carry.z);
    }
    return sum;
}

fn multiplied(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    var product = a * b;
    if (is_float()) {
        product = bitcast<vec4<u32>>(bitcast<vec4<f32>>(a) * bitcast<vec4<f32>>(b));
    } else if (ELEMENT == I64) {
        let zero = vec2(0u);
        product = vec4(add_product(zero, a.xy, b.xy), add_product(zero, a.zw, b.zw));
    }
    return product;
}

fn least(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    return either(a, b, comes_before(b, a));
}

fn greatest(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    return either(a, b, comes_before(a, b));
}

// One of two values; a NaN, if one of them is.
fn either(a: vec4<u32>, b: vec4<u32>, second: vec4<bool>) -> vec4<u32> {
    var found = select(a, b, second);
    if (is_float()) {
        found = select(found, vec4(QUIET_NAN), is_nan(a) | is_nan(b));
    }
    return found;
}

// Whether a is less than b; not of NaNs.
fn comes_before(a: vec4<u32>, b: vec4<u32>) -> vec4<bool> {
    var before = ordered(a) < ordered(b);
    if (ELEMENT == I64) {
        before = (before.yw | ((a.yw == b.yw) & (a.xz < b.xz))).xxyy;
    }
    return before;
}

// Unsigned numbers in the order of the values. Floats by bits, so that -0 comes before 0, and subnormal
// numbers are not taken for zeros.
fn ordered(value: vec4<u32>) -> vec4<u32> {
    var number = value ^ vec4(sign_bit());
    if (is_float()) {
        let sign = vec4(0x80000000u);
        number = value ^ select(sign, vec4(0xffffffffu), value >= sign);
    }
    return number;
}
