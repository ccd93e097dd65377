//! Planted faults: each must be reported, or the checks prove nothing.
//!
//! Faults of shaders are planted in the shaders' text and run on every adapter; faults of
//! lowering are planted in plans and run on the CPU path.

use wgpu_gather::cpu::parallel;
use wgpu_gather::gpu::Engine;
use wgpu_gather::plan::Geometry;
use wgpu_gather::verify::{Call, Outcome, builtin, check_call, compare};
use wgpu_gather::{Executor, Rules};

use crate::common::{block_on, engines, fresh_device};

/// Replaces text that must be there in the shaders that have `part`.
fn plant(source: String, part: &str, from: &str, to: &str) -> String {
    if !source.contains(part) {
        return source;
    }
    assert!(
        source.contains(from),
        "the fault has lost its place: {from}"
    );
    source.replace(from, to)
}

type Fault = (&'static str, fn(String) -> String);

const SHADER_FAULTS: &[Fault] = &[
    ("none", |s| s),
    ("stride off by one", |s| {
        plant(
            s,
            "fn look_up",
            "coordinate.low * c.y",
            "coordinate.low * (c.y + 1u)",
        )
    }),
    ("coordinates swapped", |s| {
        let swapped = "geometry.coordinates[geometry.depth - 1u - k]";
        plant(s, "fn look_up", "geometry.coordinates[k]", swapped)
    }),
    ("outermost loop dropped", |s| {
        let dropped = "step(geometry.loops[0], select(rest, 0u, geometry.loop_count > 1u), &at);";
        plant(
            s,
            "fn place",
            "step(geometry.loops[0], rest, &at);",
            dropped,
        )
    }),
    ("bound <= for <", |s| {
        plant(
            s,
            "fn is_inside",
            "value.x < extent.x",
            "value.x <= extent.x",
        )
    }),
    ("truncation of i64", |s| {
        plant(s, "fn load_index", "indices[2u * at + 1u]", "0u")
    }),
    ("zero by multiplication", |s| {
        // Only where zeros belong: a NaN survives, and a negative number leaves its sign. The
        // factor is 0 for every call of one workgroup, which no compiler knows.
        let product = "let zero = bitcast<Lane>(bitcast<f32>(lane) * f32(geometry.grid_x - 1u));
            return select(zero, lane, source.valid);";
        if s.contains("alias Lane = u32;") {
            let from = "return select(Lane(), lane, source.valid);";
            plant(s, "fn fetch", from, product)
        } else {
            s
        }
    }),
    ("flat-offset bound check", |s| {
        let part = "fn look_up";
        let outside = "return Coordinate(0u, 0u, false);";
        let s = plant(s, part, outside, "return Coordinate(value.x, 0u, false);");
        let s = plant(s, part, "(*source).valid & coordinate.valid", "true");
        plant(
            s,
            part,
            "    return source;",
            "    source.valid = source.params < arrayLength(&params); return source;",
        )
    }),
    ("f16 passed through arithmetic", |s| {
        let rounded = "let halves = unpack2x16float(funnel(low, high, byte));
            let rows = f32(geometry.row_count);
            return or_fill(pack2x16float(halves * rows / rows), source, column);";
        let from = "return or_fill(funnel(low, high, byte), source, column);";
        plant(s, "fn load_bytes", from, rounded)
    }),
    ("last partial word dropped", |s| {
        plant(
            s,
            "fn load_bytes",
            "if (first >= end)",
            "if (end - min(first, end) < 4u)",
        )
    }),
    ("negative from the end twice", |s| {
        plant(
            s,
            "fn resolve",
            "select(0u, extent.x, from_end)",
            "select(0u, 2u * extent.x, from_end)",
        )
    }),
    ("fill value of the wrong column", |s| {
        plant(
            s,
            "fn fill_byte",
            "byte = n % geometry.fill_length",
            "byte = 0u",
        )
    }),
    ("modulo of the low word only", |s| {
        plant(
            s,
            "fn modulo",
            "var bits = value;",
            "var bits = vec2(value.x, 0u);",
        )
    }),
    ("carry of a division lost", |s| {
        plant(s, "fn divide", "+ (other >> 16u)", "")
    }),
    ("last of four elements twice", |s| {
        plant(s, "source_d", "fetch(source_d, 0u)", "fetch(source_c, 0u)")
    }),
    ("run of elements that stands still", |s| {
        plant(s, "fn advance", "advance(at, 3u)", "advance(at, 2u)")
    }),
    ("second row of a pair left out", |s| {
        plant(s, "other_to", "(next < geometry.row_count)", "false")
    }),
    ("next row a byte too early", |s| {
        plant(s, "fn load_vector", "0u - left", "1u - left")
    }),
    ("units of a word swapped", |s| {
        let s = plant(
            s,
            "fn load_unit",
            "unit(min(first, total",
            "unit(min(first ^ 1u, total",
        );
        plant(
            s,
            "fn load_unit",
            "unit(min(first + 1u,",
            "unit(min((first + 1u) ^ 1u,",
        )
    }),
    ("bad lookups counted per coordinate", |s| {
        plant(s, "fn is_bad", "bad = bad |", "bad =")
    }),
    ("last bad index for the first", |s| {
        plant(
            s,
            "fn is_bad",
            "atomicMax(&status[2], ~lookup)",
            "atomicMin(&status[2], ~lookup)",
        )
    }),
];

/// The built-in calls, and some where only one kind of fault shows.
fn calls() -> Vec<Call> {
    let mut calls = builtin();
    calls.retain(|c| c.element_bytes <= 8);
    calls
}

#[test]
fn faults_of_shaders_are_reported_on_every_adapter() {
    let calls = calls();
    for engine in engines() {
        let label = engine.adapter().label();
        let (device, queue) = fresh_device(engine, engine.device().limits());
        for &(name, fault) in SHADER_FAULTS {
            let (device, queue) = (device.clone(), queue.clone());
            let faulty = block_on(Engine::with_fault(device, queue, fault)).expect("engine");
            let executor = Executor::Gpu(faulty);
            let first = calls.iter().enumerate().find_map(|(n, call)| {
                match block_on(check_call(call, &executor)) {
                    Outcome::Failed(why) => Some((n, why)),
                    _ => None,
                }
            });
            match first {
                None => assert_eq!(name, "none", "{label}: not reported"),
                Some((n, why)) => {
                    assert_ne!(name, "none", "{label}: {why}");
                    assert!(!why.contains("wgpu refused"), "{label}: {name}: {why}");
                    println!("{label}: {name}: reported by call {n}: {why}");
                }
            }
        }
    }
}

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
        for mut call in calls() {
            // With an offset, and room for a fault to read elsewhere than beside the data.
            call.params = [vec![0x77; call.element_bytes], call.params].concat();
            let strides = call.params_layout.strides().to_vec();
            let shape = call.params_layout.shape().to_vec();
            call.params_layout = wgpu_gather::Layout::strided(&shape, &strides, 1).unwrap();
            let room = vec![0x99; call.element_bytes << 13];
            let mut roomy = call.clone();
            roomy.params.extend(room);
            roomy.rules = Rules::TENSORFLOW_GPU;
            let mut plan = roomy.plan().unwrap();
            plan.plant_fault(fault);
            let mut output = vec![0xa5; plan.output_bytes()];
            let (params, indices) = (roomy.params().unwrap(), roomy.indices().unwrap());
            let result = parallel::execute(&plan, &params, &indices, &mut output);
            let outcome = compare(&roomy, result.map(|()| output));
            reported += usize::from(matches!(outcome, Outcome::Failed(_)));
        }
        println!("{name}: reported by {reported} calls");
        assert_eq!(reported > 0, name != "none", "{name}");
    }
}

#[test]
fn one_flipped_output_bit_is_reported() {
    for (n, call) in calls().iter().enumerate() {
        let right = block_on(call.output(&Executor::Reference));
        let Ok(mut output) = right else { continue };
        if output.is_empty() {
            continue;
        }
        let at = n * 7919 % output.len();
        output[at] ^= 1 << (n % 8);
        assert!(matches!(compare(call, Ok(output)), Outcome::Failed(_)));
    }
}
