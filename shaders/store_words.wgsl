// Stores four words to an output that starts and ends at any byte: only its first and last words hold bytes of
// others.

fn store_vector(to: u32, words: vec4<u32>, mine: Mine) {
    if ((mine.slot == 0u) & (mine.end >= 16u) & mine.row & mine.next) {
        output[to] = words.x;
        output[to + 1u] = words.y;
        output[to + 2u] = words.z;
        output[to + 3u] = words.w;
    } else {
        let row = byte_masks(mine.left);
        let rows = select(vec4(0u), row, mine.row) | select(vec4(0u), ~row, mine.next);
        let mask = rows & byte_masks(mine.end) & ~byte_masks(mine.slot);
        store_masked(to, words.x, mask.x);
        store_masked(to + 1u, words.y, mask.y);
        store_masked(to + 2u, words.z, mask.z);
        store_masked(to + 3u, words.w, mask.w);
    }
}
