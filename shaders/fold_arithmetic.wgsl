// The arithmetic of folds, on the bits of values: one in a lane, but in two lanes if it has 64 bits. What
// is narrower than a word has the first lane to itself. The twin on the host is src/fold.

override KIND: u32 = 0u;   // what the values are, as below
override REDUCE: u32 = 0u; // what becomes of them, as below

// As `FoldKind` in src/scatter/fold_block.rs.
const MOVED = 0u;
const U32 = 1u; // and narrower
const I32 = 2u;
const I16 = 3u;
const I8 = 4u;
const F32 = 5u;
const F16 = 6u;
const BF16 = 7u;
const U64 = 8u;
const I64 = 9u;

// As `Reduce` in src/fold/mod.rs.
const NONE = 0u;
const ADD = 1u;
const MUL = 2u;
const MIN = 3u;
const MAX = 4u;

const NAN = 0x7fc00000u;
const INFINITY = 0x7f800000u;

// The value as the fold holds it: f16 and bf16 as f32, narrow integers as wide ones.
fn widen(bits: Lanes) -> Lanes {
    var value = bits;
    if (KIND == F16) {
        value.x = from_f16(bits.x);
    } else if (KIND == BF16) {
        value.x = bits.x << 16u;
    } else if (KIND == I16) {
        value.x = bitcast<u32>(bitcast<i32>(bits.x << 16u) >> 16u);
    } else if (KIND == I8) {
        value.x = bitcast<u32>(bitcast<i32>(bits.x << 24u) >> 24u);
    }
    return value;
}

// The value at the end. What is stored keeps the lowest bits of an integer.
fn narrow(value: Lanes) -> Lanes {
    var bits = value;
    if (KIND == F32) {
        bits = select(value, Lanes(NAN), is_nan(value));
    } else if (KIND == F16) {
        bits.x = to_f16(value.x);
    } else if (KIND == BF16) {
        bits.x = select(rounded_shift(value.x, 16u), NAN >> 16u, is_nan(value).x);
    }
    return bits;
}

fn combine(sum: Lanes, value: Lanes) -> Lanes {
    var result = value;
    if (REDUCE == ADD) {
        result = added(sum, value);
    } else if (REDUCE == MUL) {
        result = multiplied(sum, value);
    } else if (REDUCE == MIN) {
        result = either(sum, value, comes_before(value, sum));
    } else if (REDUCE == MAX) {
        result = either(sum, value, comes_before(sum, value));
    }
    return result;
}

fn is_float() -> bool {
    return (KIND == F32) | (KIND == F16) | (KIND == BF16);
}

fn is_wide() -> bool {
    return (KIND == U64) | (KIND == I64);
}

fn added(a: Lanes, b: Lanes) -> Lanes {
    var sum = a + b;
    if (is_float()) {
        sum = bitcast<Lanes>(bitcast<Floats>(a) + bitcast<Floats>(b));
    } else if (is_wide()) {
        sum.y += select(0u, 1u, sum.x < a.x);
    }
    return sum;
}

fn multiplied(a: Lanes, b: Lanes) -> Lanes {
    var product = a * b;
    if (is_float()) {
        product = bitcast<Lanes>(bitcast<Floats>(a) * bitcast<Floats>(b));
    } else if (is_wide()) {
        product.y = high_product(a.x, b.x) + a.x * b.y + a.y * b.x;
    }
    return product;
}

// The high word of a product.
fn high_product(a: u32, b: u32) -> u32 {
    let low = (a & 0xffffu) * (b & 0xffffu);
    let middle = (a >> 16u) * (b & 0xffffu) + (low >> 16u);
    let other = (a & 0xffffu) * (b >> 16u) + (middle & 0xffffu);
    return (a >> 16u) * (b >> 16u) + (middle >> 16u) + (other >> 16u);
}

// One of two values; a NaN, if one of them is.
fn either(a: Lanes, b: Lanes, second: Bools) -> Lanes {
    var found = select(a, b, second);
    if (is_float()) {
        found = select(found, Lanes(NAN), is_nan(a) | is_nan(b));
    }
    return found;
}

// Whether a is less than b; not of NaNs. By bits, so that -0 comes before 0, and subnormal numbers
// are not taken for zeros.
fn comes_before(a: Lanes, b: Lanes) -> Bools {
    let x = ordered(a);
    let y = ordered(b);
    var before = x < y;
    if (is_wide()) {
        before = Bools((x.y < y.y) | ((x.y == y.y) & (x.x < y.x)));
    }
    return before;
}

// Unsigned numbers in the order of the values.
fn ordered(value: Lanes) -> Lanes {
    let sign = Lanes(0x80000000u);
    var number = value;
    if (is_float()) {
        number = value ^ select(sign, Lanes(0xffffffffu), value >= sign);
    } else if (KIND == I64) {
        number.y = value.y ^ 0x80000000u;
    } else if (!is_wide() & (KIND != U32)) {
        number = value ^ sign;
    }
    return number;
}

fn is_nan(bits: Lanes) -> Bools {
    return (bits & Lanes(0x7fffffffu)) > Lanes(INFINITY);
}

fn from_f16(bits: u32) -> u32 {
    let magnitude = bits & 0x7fffu;
    let mantissa = magnitude & 0x3ffu;
    var value = (magnitude << 13u) + (112u << 23u);
    if (magnitude >= 0x7c00u) {
        value = INFINITY | (mantissa << 13u);
    } else if (magnitude < 0x400u) {
        // Subnormal, which f32 has as normal: the highest bit becomes the one that is not stored.
        let zeros = countLeadingZeros(mantissa | 1u);
        value = select((134u - zeros) << 23u, 0u, mantissa == 0u)
            | (((mantissa << (zeros - 8u)) & 0x7fffffu));
    }
    return ((bits & 0x8000u) << 16u) | value;
}

// Rounded to nearest even.
fn to_f16(value: u32) -> u32 {
    let magnitude = value & 0x7fffffffu;
    var bits = 0u; // what is less than half of the least
    if (magnitude > INFINITY) {
        bits = 0x7e00u;
    } else if (magnitude >= 0x477ff000u) { // from half an ulp above the largest on
        bits = 0x7c00u;
    } else if (magnitude >= 0x38800000u) {
        bits = rounded_shift(magnitude - (112u << 23u), 13u);
    } else if (magnitude >= 0x33000000u) { // subnormal: so many of the least
        bits = rounded_shift((magnitude & 0x7fffffu) | 0x800000u, 126u - (magnitude >> 23u));
    }
    return bits | select((value >> 16u) & 0x8000u, 0u, magnitude > INFINITY);
}

// Without the lowest bits, rounded to nearest even.
fn rounded_shift(bits: u32, shift: u32) -> u32 {
    let odd = (bits >> shift) & 1u;
    return (bits + (1u << (shift - 1u)) - 1u + odd) >> shift;
}
