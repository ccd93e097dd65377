//! Faults planted in plans, which the CPU path then executes: each must be reported.

use gather_conformance::builtin;
use gather_conformance::wgpu_gather::{Layout, Rules};

use crate::cpu::gather::plain;
use crate::plan::Geometry;
use crate::tests::calls;

type PlanFault = (&'static str, fn(&mut Geometry));

const PLAN_FAULTS: &[PlanFault] = &[
    ("none", |_| {}),
    ("stride off by one", |g| {
        if let Some(l) = g.loops.iter_mut().find(|l| l.params_stride != 0) {
            l.params_stride += 1;
        }
    }),
    ("coordinates swapped", |g| g.coordinates.reverse()),
    ("batch offset dropped", |g| {
        if g.loops.len() > 2 {
            g.loops[0].params_stride = 0;
        }
    }),
    ("index stride dropped", |g| {
        if let Some(l) = g.loops.iter_mut().find(|l| l.indices_stride != 0) {
            l.indices_stride = 0;
        }
    }),
    ("bound too large by one", |g| {
        if let Some(c) = g.coordinates.first_mut() {
            c.extent += 1;
        }
    }),
    ("offset dropped", |g| {
        g.params_offset = g.params_offset.saturating_sub(1);
    }),
];

#[test]
fn faults_of_lowering_are_reported() {
    for &(name, fault) in PLAN_FAULTS {
        let mut reported = 0;
        for mut call in builtin().into_iter().filter(|c| c.element_bytes <= 8) {
            // With an offset, and room for a fault to read elsewhere than beside the data.
            call.params = [vec![0x77; call.element_bytes], call.params].concat();
            let strides = call.params_layout.strides().to_vec();
            let shape = call.params_layout.shape().to_vec();
            call.params_layout = Layout::strided(&shape, &strides, 1).unwrap();
            let room = vec![0x99; call.element_bytes << 13];
            let mut roomy = call.clone();
            roomy.params.extend(room);
            roomy.rules = Rules::TENSORFLOW_GPU;
            let plan = calls::plan(&roomy).unwrap();
            let expected = calls::expected(&roomy, plan.output_bytes());
            let mut geometry = plan.geometry().clone();
            fault(&mut geometry);
            let plan = plan.over(geometry);
            let mut output = vec![0xa5; plan.output_bytes()];
            let (params, indices) = (
                calls::params(&roomy).unwrap(),
                calls::indices(&roomy).unwrap(),
            );
            let result = plain::execute(&plan, &params, &indices, &mut output);
            reported += usize::from(result.map(|()| output) != expected);
        }
        println!("{name}: reported by {reported} calls");
        assert_eq!(reported > 0, name != "none", "{name}");
    }
}
