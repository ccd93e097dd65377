// Stores to words of which only some bytes belong to the output; the other bytes keep their value.

alias Out = u32;

// Only the first and the last word are read, and words with rows of another pass: no other
// invocation of this pass writes to them.
fn store_masked(at: u32, word: u32, mask: u32) {
    if (mask == 0xffffffffu) {
        output[at] = word;
    } else if (mask != 0u) {
        output[at] = (output[at] & ~mask) | (word & mask);
    }
}
