//! Every element is made once, from bytes that are bound.

use super::*;
use crate::error::{Error, OpKind, Role};
use crate::index::IndexType;
use crate::op::Op;
use crate::rules::Rules;
use crate::shape::{Layout, unravel};

/// One buffer that holds the data from its byte `offset` on.
fn whole(offset: u64, bytes: u64) -> Vec<Part> {
    vec![Part {
        origin: -(offset as i64),
        offset: 0,
        bytes: offset + bytes,
    }]
}

/// Buffers of `each` bytes.
fn several(bytes: u64, each: u64) -> Vec<Part> {
    let part = |n: u64| Part {
        origin: (n * each) as i64,
        offset: 0,
        bytes: each.min(bytes - n * each),
    };
    (0..bytes.div_ceil(each)).map(part).collect()
}

/// Where element `element` of the box reads: its index tuple and, for some coordinates, params.
fn places(nest: &Geometry, element: usize, choice: usize) -> (Vec<i64>, i64) {
    let extents: Vec<usize> = nest.loops.iter().map(|l| l.extent).collect();
    let (mut params, mut index) = (nest.params_offset as i64, nest.indices_offset as i64);
    for (l, at) in nest.loops.iter().zip(unravel(element, &extents)) {
        params += l.params_stride as i64 * at as i64;
        index += l.indices_stride as i64 * at as i64;
    }
    for (k, c) in nest.coordinates.iter().enumerate() {
        // The elements of a row share their lookup.
        let row = element / nest.slice();
        params += ((choice * 7 + k * 3 + row) % c.extent) as i64 * c.stride as i64;
    }
    let tuple = |k: usize| index + k as i64 * nest.index_step as i64;
    ((0..nest.coordinates.len()).map(tuple).collect(), params)
}

/// Every element is made once, from bytes that are bound.
fn check(plan: &Plan, parts: Parts<'_>, limits: &BindingLimits) -> usize {
    let all = passes(plan, parts, limits).unwrap();
    let covers = |s: &Segment, byte: i64, bytes: usize| {
        s.origin <= byte && byte + bytes as i64 <= s.end() && s.size <= limits.params_bytes
    };
    let (width, index_bytes) = (plan.element_bytes(), plan.index_type().bytes());
    let mut made = 0;
    for (n, pass) in all.iter().enumerate() {
        assert!(pass.params.len() <= limits.segments);
        assert_eq!(pass.elements.len(), pass.geometry.elements());
        assert!(pass.elements.len() * width <= limits.pass_bytes as usize);
        if !pass.first {
            assert_eq!(pass.elements, all[n - 1].elements);
            continue;
        }
        assert_eq!(pass.elements.start, made, "boxes follow each other");
        made = pass.elements.end;
        let group: Vec<&Pass> = all[n..]
            .iter()
            .take_while(|p| p.elements == pass.elements)
            .collect();
        for element in 0..pass.elements.len() {
            let to = ((pass.elements.start + element) * width) as i64;
            assert!(covers(&pass.output, to, width));
            for choice in 0..3 {
                let (tuple, from) = places(&pass.geometry, element, choice);
                for index in tuple {
                    let byte = index * index_bytes as i64;
                    assert!(covers(&pass.indices.unwrap(), byte, index_bytes));
                }
                // Rows are read as a whole, in the pass that owns their start.
                let slice = pass.geometry.slice();
                let byte = (from - (element % slice) as i64) * width as i64;
                let owner = |p: &&&Pass| {
                    p.params.first().is_some_and(|s| s.owned_from <= byte) && byte < p.owned_to
                };
                let owners: Vec<_> = group.iter().filter(owner).collect();
                assert_eq!(owners.len(), 1, "element {element} is read in one pass");
                let segment = owners[0].params.iter().rfind(|s| s.owned_from <= byte);
                assert!(covers(segment.unwrap(), byte, slice * width));
            }
        }
    }
    assert_eq!(made * width, plan.output_bytes());
    all.len()
}

fn limits(binding_bytes: u64, segments: usize) -> BindingLimits {
    BindingLimits {
        params_bytes: binding_bytes,
        indices_bytes: binding_bytes,
        output_bytes: binding_bytes,
        segments,
        alignment: 256,
        pass_bytes: 4096,
        workgroups: 65535,
    }
}

fn plan(op: Op, width: usize, params: &Layout, indices: &Layout) -> Plan {
    Plan::new(
        op,
        &Rules::default(),
        width,
        params,
        IndexType::I64,
        indices,
    )
    .unwrap()
}

#[test]
fn every_element_is_made_once_from_bytes_that_are_bound() {
    let contiguous = Layout::contiguous;
    let transposed = contiguous(&[40, 50]).permute(&[1, 0]).unwrap();
    let reversed = Layout::strided(&[60, 20], &[-20, 1], 1180).unwrap();
    let plans = [
        plan(
            Op::gather(0),
            4,
            &contiguous(&[300, 8]),
            &contiguous(&[500]),
        ),
        plan(
            Op::gather(0),
            1,
            &contiguous(&[700, 3]),
            &contiguous(&[300, 2]),
        ),
        plan(Op::gather(0), 16, &contiguous(&[5, 300]), &contiguous(&[3])),
        plan(
            Op::gather(1),
            4,
            &contiguous(&[30, 40, 5]),
            &contiguous(&[20]),
        ),
        plan(Op::gather(0), 2, &transposed, &contiguous(&[60])),
        plan(Op::gather(0), 8, &reversed, &contiguous(&[30])),
        plan(
            Op::gather_nd(),
            4,
            &contiguous(&[20, 30, 7]),
            &contiguous(&[150, 2]),
        ),
        plan(
            Op::gather_elements(0),
            4,
            &contiguous(&[50, 40]),
            &contiguous(&[30, 40]),
        ),
        plan(
            Op::Gather {
                axis: Some(1),
                batch_dims: 1,
            },
            8,
            &contiguous(&[40, 30, 2]),
            &contiguous(&[40, 9]),
        ),
        plan(Op::gather(0), 4, &contiguous(&[2000]), &contiguous(&[3000])),
        plan(
            Op::gather_nd(),
            12,
            &contiguous(&[100, 9]),
            &contiguous(&[0]),
        ),
    ];
    let mut counts = Vec::new();
    for plan in &plans {
        let bytes = |layout: &Layout, width: usize| {
            layout
                .reached()
                .map_or(16, |(_, last)| ((last + 1) * width) as u64)
        };
        let params = bytes(plan.params_layout(), plan.element_bytes());
        let indices = bytes(plan.indices_layout(), 8);
        let output = plan.output_bytes() as u64;
        for (binding, segments) in [(512, 2), (1024, 3), (4096, 8), (1 << 30, 6)] {
            let limits = limits(binding, segments);
            let parts = Parts {
                params: &whole(336, params),
                indices: &whole(40, indices),
                output: &whole(48, output),
            };
            counts.push(check(plan, parts, &limits));
            let each = 1536; // a multiple of 16 and of every width here
            let parts = Parts {
                params: &several(params, each),
                indices: &whole(0, indices),
                output: &several(output, each),
            };
            check(plan, parts, &limits);
        }
    }
    assert!(
        counts.contains(&1) && counts.iter().any(|&n| n > 50),
        "{counts:?}"
    );
}

#[test]
fn an_ordinary_gather_is_one_pass_with_one_segment() {
    let plan = plan(
        Op::gather(0),
        4,
        &Layout::contiguous(&[30522, 384]),
        &Layout::contiguous(&[512]),
    );
    let parts = Parts {
        params: &whole(0, 30522 * 384 * 4),
        indices: &whole(0, 512 * 8),
        output: &whole(0, 512 * 384 * 4),
    };
    let limits = BindingLimits {
        pass_bytes: 1 << 30,
        ..limits(1 << 27, 6)
    };
    let all = passes(&plan, parts, &limits).unwrap();
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].params.len(), 1);
    assert_eq!(&all[0].geometry, plan.geometry());
}

#[test]
fn batches_are_cut_so_that_their_params_fit_one_dispatch() {
    // 8 batches of 1,000 bytes; two segments of 1,024 bytes at a time
    let op = Op::Gather {
        axis: Some(1),
        batch_dims: 1,
    };
    let plan = plan(
        op,
        4,
        &Layout::contiguous(&[8, 250]),
        &Layout::contiguous(&[8, 30]),
    );
    let parts = Parts {
        params: &whole(0, 8000),
        indices: &whole(0, 8 * 30 * 8),
        output: &whole(0, 8 * 30 * 4),
    };
    let all = passes(&plan, parts, &limits(1024, 2)).unwrap();
    assert!(all.iter().all(|p| p.first), "no box takes two passes");
}

#[test]
fn a_tuple_beyond_a_binding_is_an_error() {
    let apart = Layout::strided(&[10, 2], &[1, 1000], 0).unwrap();
    let plan = plan(Op::gather_nd(), 4, &Layout::contiguous(&[9, 9]), &apart);
    let parts = Parts {
        params: &whole(0, 324),
        indices: &whole(0, 8080),
        output: &whole(0, 40),
    };
    let error = Error::TensorTooLarge {
        op: OpKind::GatherNd,
        role: Role::Indices,
        bytes: 8008,
        limit: 1024,
    };
    assert_eq!(passes(&plan, parts, &limits(1024, 2)), Err(error.clone()));
    let check = check_passes(&plan, parts.indices, &limits(1024, 2));
    assert_eq!(check, Err(error));
}

/// A binding holds the tuple, but not with what lies between it and the start of a binding.
#[test]
fn a_tuple_too_far_from_the_start_of_a_binding_is_said_to_need_that_too() {
    let apart = Layout::strided(&[1, 3], &[1, 56], 20).unwrap();
    let plan = plan(Op::gather_nd(), 4, &Layout::contiguous(&[9, 9, 9]), &apart);
    let parts = Parts {
        params: &whole(0, 4 * 729),
        indices: &whole(0, 8 * 133),
        output: &whole(0, 4),
    };
    let limits = limits(1024, 2);
    assert_eq!(limits.alignment, 256);
    let error = Error::TensorTooLarge {
        op: OpKind::GatherNd,
        role: Role::Indices,
        bytes: 160 + 904,
        limit: 1024,
    };
    assert_eq!(passes(&plan, parts, &limits), Err(error));
}
