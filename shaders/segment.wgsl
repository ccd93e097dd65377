// Params in a single segment.

fn find_segment(source: ptr<function, Source>) {
}

fn load(segment: u32, at: u32) -> Vector {
    return params[at];
}
