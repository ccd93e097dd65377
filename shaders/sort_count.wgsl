@group(0) @binding(3) var<storage, read_write> counts: array<u32>;

var<workgroup> found: array<atomic<u32>, DIGITS>;
var<workgroup> falls: atomic<u32>;
var<workgroup> keys: array<u32, TILE>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) invocation: u32,
) {
    let tile = number(workgroup);
    if (tile < sort.tiles) {
        let start = tile * TILE;
        let count = select(min(TILE, sort.count - start), 0u, is_over());
        atomicStore(&found[invocation], 0u);
        atomicStore(&falls, 0u);
        workgroupBarrier(); // before the counts
        for (var n = invocation; n < count; n += WORKGROUP) {
            let key = pairs[start + n].x;
            keys[n] = key;
            atomicAdd(&found[digit_of(key)], 1u);
        }
        workgroupBarrier(); // after the counts
        for (var n = invocation; (n < count) & (sort.ends == 0u); n += WORKGROUP) {
            var before = 0u;
            if (n > 0u) {
                before = keys[n - 1u];
            } else if (tile > 0u) {
                before = pairs[start - 1u].x;
            }
            if (keys[n] < before) {
                atomicStore(&falls, FALLS);
            }
        }
        workgroupBarrier(); // after the falls
        var beside = 0u;
        if (invocation == 0u) {
            if (!are_few()) {
                beside = atomicLoad(&falls);
            } else if (sort.ends == 0u) {
                counts[sort.order + tile] = select(1u, 0u, atomicLoad(&falls) != 0u);
            }
        }
        counts[tile * DIGITS + invocation] = atomicLoad(&found[invocation]) | beside;
    }
}

// Whether the pairs are in order, and the sort has ended. Few tiles are counted all the same: that takes no longer than to
// look at the word of each.
fn is_over() -> bool {
    var says = 0u;
    if ((sort.ends != 0u) & !are_few()) {
        says = counts[sort.order];
    }
    return says != 0u;
}
