// Stores four words to an output of whole 16-byte vectors: one store.

alias Out = vec4<u32>;

fn store_vector(to: u32, words: vec4<u32>, mine: Mine) {
    output[to >> 2u] = words;
}
