alias Vector = vec2<u32>;

fn fill_vector(n: u32) -> Vector {
    return vec2(fill_word(2u * n), fill_word(2u * n + 1u));
}
