alias Lane = u32;

fn fill_lane(n: u32) -> Lane {
    return fill_word(n);
}
