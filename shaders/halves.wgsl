// Conversions between f32 and the floats of 16 bits, on their bits: the rounding of `pack2x16float` is not
// specified, and GPUs may flush subnormals. Their twins on the host are in src/halves.rs.

const QUIET_NAN = 0x7fc00000u;

// Smallest normal f16.
const LEAST_NORMAL = 0.00006103515625;

fn is_nan(bits: vec4<u32>) -> vec4<bool> {
    return (bits & vec4(0x7fffffffu)) > vec4(0x7f800000u);
}

// f16 to f32, exactly. Rebiasing the exponent turns a subnormal into 2^-15 plus half of its value. Doubling and
// subtracting 2^-14 corrects that; for normal numbers it gives no less, so the minimum is right for both. No
// operand is subnormal as f32.
fn from_f16(halves: vec4<u32>) -> vec4<u32> {
    let magnitude = halves & vec4(0x7fffu);
    let normal = bitcast<vec4<f32>>((magnitude << vec4(13u)) + vec4(112u << 23u));
    let number = bitcast<vec4<u32>>(min(normal, 2.0 * normal - vec4(LEAST_NORMAL)));
    let special = (magnitude << vec4(13u)) | vec4(0x7f800000u);
    let sign = (halves & vec4(0x8000u)) << vec4(16u);
    return select(number, special, magnitude >= vec4(0x7c00u)) | sign;
}

// f32 to f16, rounded to nearest even. A NaN keeps its sign and the upper bits of its payload.
fn to_f16(bits: vec4<u32>) -> vec4<u32> {
    let magnitude = bits & vec4(0x7fffffffu);
    let normal = min(nearest_even(magnitude, vec4(13u)) - vec4(112u << 10u), vec4(0x7c00u));
    // A subnormal result: a multiple of the smallest subnormal.
    let mantissa = (magnitude & vec4(0x7fffffu)) | vec4(0x800000u);
    let shift = clamp(vec4(126u) - (magnitude >> vec4(23u)), vec4(1u), vec4(25u));
    let small = nearest_even(mantissa, shift);
    let number = select(small, normal, magnitude >= vec4(0x38800000u));
    let nan = ((magnitude >> vec4(13u)) & vec4(0x3ffu)) | vec4(0x7e00u);
    return ((bits >> vec4(16u)) & vec4(0x8000u)) | select(number, nan, is_nan(bits));
}

fn to_bf16(bits: vec4<u32>) -> vec4<u32> {
    let nan = (bits >> vec4(16u)) | vec4(0x40u);
    return select(nearest_even(bits, vec4(16u)), nan, is_nan(bits));
}

// value / 2^shift to nearest even, for shifts from 1 on.
fn nearest_even(value: vec4<u32>, shift: vec4<u32>) -> vec4<u32> {
    let below_half = (vec4(1u) << (shift - vec4(1u))) - vec4(1u);
    return (value + below_half + ((value >> shift) & vec4(1u))) >> shift;
}
