const PAIR_LOG2 = 4u;
const SHORT = false;
const NORMAL = false;

struct Raw {
    codes: u32,
    scale: u32,
}

fn load_pair(a: u32, b: u32) -> Raw {
    let block = table.codes_offset + (a >> 5u) * 18u;
    return Raw(codes_from(block + 2u + (a & 15u)), half_at(block));
}

fn is_plain(raw: Raw) -> bool {
    return is_moderate(raw.scale);
}

fn decode(raw: Raw, plain: bool) -> Eight {
    let scale = f16_value(raw.scale);
    return Eight(
        looked_up(low_nibbles(raw.codes), scale),
        looked_up(high_nibbles(raw.codes), scale),
    );
}

// -127 -104 -83 -65, -49 -35 -22 -10, 1 13 25 38, 53 69 89 113: a polynomial is within 0.38 of each.
fn looked_up(codes: u32, scale: f32) -> vec4<u32> {
    let x = vec4<f32>(bytes(codes));
    let fifth = ((0.000144791 * x - 0.00434532) * x + 0.1187) * x - 1.92853;
    let values = round((fifth * x + 25.556) * x - 127.371);
    return bitcast<vec4<u32>>(scale * values);
}
