// Params in several segments, each in a binding of its own. SEGMENTS and `load` are generated, as WGSL has no
// arrays of storage buffers.

// Finds the segment that holds the row, and the row's place in it. The host cuts params between rows, so a row
// lies within one segment. A binding has fewer than 2^31 accesses, so 32 bits hold the distance from the
// segment's start. Invalid rows and rows of other passes read access 0 of segment 0, which always exists.
fn find_segment(source: ptr<function, Source>) {
    let position = vec2((*source).params, (*source).params_high);
    var segment = 0u;
    var shift = geometry.segments[0].z;
    for (var n = 1u; n < SEGMENTS; n++) { // FXC warns of the loop where there are two
        let next = geometry.segments[n];
        let further = is_from(position, next.xy);
        segment = select(segment, n, further);
        shift = select(shift, next.z, further);
    }
    let owned = is_from(position, geometry.segments[0].xy)
        & !is_from(position, vec2(geometry.owned_to, geometry.owned_to_high));
    let valid = (*source).valid;
    (*source).mine = select(geometry.fills != 0u, owned, valid);
    (*source).segment = select(0u, segment, valid & owned);
    (*source).params = select(0u, position.x + shift, valid & owned);
}

// position >= first; in 64 bits if WIDE.
fn is_from(position: vec2<u32>, first: vec2<u32>) -> bool {
    if (WIDE) {
        return !is_less(position, first);
    }
    return position.x >= first.x;
}
