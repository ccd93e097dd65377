// Four words of an output that is whole vectors of 16 bytes: one store.

alias Out = vec4<u32>;

fn store_vector(to: u32, words: vec4<u32>, mine: Mine) {
    output[to >> 2u] = words;
}
