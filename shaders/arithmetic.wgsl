// The arithmetic of folds, on the bits of values in four lanes. A lane holds one value; a 64-bit integer takes
// two lanes, low word first. f16 and bf16 are folded as f32. Results of 8- and 16-bit integers have garbage in
// the upper bits. Must match src/fold.

override ELEMENT: u32 = 0u; // element type: `FoldElement` in src/fold/element.rs

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

// Widens elements to the type that the fold calculates in.
fn widen(bits: vec4<u32>) -> vec4<u32> {
    var values = bits;
    if (ELEMENT == F16) {
        values = from_f16(bits);
    } else if (ELEMENT == BF16) {
        values = bits << vec4(16u);
    }
    return values;
}

// Rounds the result to the element type, and makes every NaN the canonical one.
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

// Minimum or maximum; NaN if either operand is NaN.
fn either(a: vec4<u32>, b: vec4<u32>, second: vec4<bool>) -> vec4<u32> {
    var found = select(a, b, second);
    if (is_float()) {
        found = select(found, vec4(QUIET_NAN), is_nan(a) | is_nan(b));
    }
    return found;
}

// a < b, for operands that are not NaN.
fn comes_before(a: vec4<u32>, b: vec4<u32>) -> vec4<bool> {
    var before = ordered(a) < ordered(b);
    if (ELEMENT == I64) {
        before = (before.yw | ((a.yw == b.yw) & (a.xz < b.xz))).xxyy;
    }
    return before;
}

// Unsigned integers that sort as the values do. Floats are compared by their bits: -0 < 0, and a device that
// flushes subnormals still tells them from zero.
fn ordered(value: vec4<u32>) -> vec4<u32> {
    var number = value ^ vec4(sign_bit());
    if (is_float()) {
        let sign = vec4(0x80000000u);
        number = value ^ select(sign, vec4(0xffffffffu), value >= sign);
    }
    return number;
}
