// Params in several segments, of which so many are bound: SEGMENTS and `load` are generated, as WGSL
// has no arrays of bindings.

// The segment that holds the row, and where. A row lies within one segment: the host has cut
// params so. A binding has fewer than 2^31 accesses, so the difference to the first of the segment
// is right in 32 bits. A row of another pass, and one that a bad index selects, is read from access
// 0 of segment 0, which is there.
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

// Whether a position is `first` or one behind it.
fn is_from(position: vec2<u32>, first: vec2<u32>) -> bool {
    if (WIDE) {
        return !is_less(position, first);
    }
    return position.x >= first.x;
}
