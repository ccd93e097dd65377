alias Lane = vec2<u32>;

fn fill_lane(n: u32) -> Lane {
    return vec2(fill_word(2u * n), fill_word(2u * n + 1u));
}
