alias Vector = u32;

fn fill_vector(n: u32) -> Vector {
    return fill_word(n);
}
