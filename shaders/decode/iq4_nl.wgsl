fn decode_four(e: u32, own: u32) -> vec4<u32> {
    let block = table.codes_offset + (e >> 5u) * 18u;
    let codes = nibbles(block + 2u, e & 31u);
    // -127 -104 -83 -65, -49 -35 -22 -10, 1 13 25 38, 53 69 89 113: a byte each.
    let upper = (codes & vec4(4u)) != vec4(0u);
    let below = select(vec4(0xbfad9881u), vec4(0xf6eaddcfu), upper);
    let above = select(vec4(0x26190d01u), vec4(0x71594535u), upper);
    let words = select(below, above, codes >= vec4(8u));
    let values = bitcast<vec4<i32>>((words >> ((codes & vec4(3u)) << vec4(3u))) << vec4(24u)) >> vec4(24u);
    return bitcast<vec4<u32>>(half_at(block) * vec4<f32>(values));
}
