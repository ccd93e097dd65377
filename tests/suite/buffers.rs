//! Buffers of the caller that a pipeline refuses: too small, of the wrong usage, shared, foreign, destroyed.

use wgpu_gather::gpu::{Buffers, Engine};
use wgpu_gather::{Error, IndexType, Layout, Op, OpKind, Plan, Role, Rules, wgpu};

use crate::common::{buffer_with, device_on, engines, fresh_adapter};

fn plan() -> Plan {
    let (params, indices) = (Layout::contiguous(&[8, 4]), Layout::contiguous(&[6]));
    Plan::new(
        Op::gather(0),
        &Rules::default(),
        4,
        &params,
        IndexType::I32,
        &indices,
    )
    .unwrap()
}

#[test]
fn buffers_that_do_not_fit_are_named() {
    let op = OpKind::Gather;
    for engine in engines() {
        let pipeline = engine.pipeline(&plan()).wait().unwrap();
        let params = buffer_with(engine, &[1; 128]);
        let indices = buffer_with(engine, &[0; 24]);
        let output = buffer_with(engine, &[0; 96]);
        let unusable = engine.device().create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: 256,
            usage: wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let good = Buffers::new(params.slice(..), indices.slice(..), output.slice(..));
        let encode = |buffers: &Buffers<'_>| {
            let mut encoder = engine.device().create_command_encoder(&Default::default());
            let result = pipeline.encode(&mut encoder, buffers);
            engine.queue().submit([encoder.finish()]);
            result
        };
        assert_eq!(encode(&good), Ok(()));
        let cases = [
            (
                Buffers {
                    params: params.slice(4..),
                    ..good
                },
                Error::BufferTooSmall {
                    op,
                    role: Role::Params,
                    needed: 132,
                    size: 128,
                },
            ),
            (
                Buffers {
                    indices: indices.slice(8..),
                    ..good
                },
                Error::BufferTooSmall {
                    op,
                    role: Role::Indices,
                    needed: 32,
                    size: 24,
                },
            ),
            (
                Buffers {
                    output: indices.slice(..),
                    indices: output.slice(..),
                    ..good
                },
                Error::BufferTooSmall {
                    op,
                    role: Role::Output,
                    needed: 96,
                    size: 24,
                },
            ),
            (
                Buffers {
                    params: params.slice(2..),
                    ..good
                },
                Error::Misaligned {
                    op: Some(op),
                    role: Role::Params,
                    offset: 2,
                    alignment: 4,
                },
            ),
            (
                Buffers {
                    params: unusable.slice(..),
                    ..good
                },
                Error::MissingUsage {
                    op: Some(op),
                    role: Role::Params,
                    usage: "STORAGE",
                },
            ),
            (
                Buffers {
                    output: params.slice(..),
                    ..good
                },
                Error::SameBuffer {
                    op,
                    role: Role::Params,
                },
            ),
            (
                Buffers {
                    output: indices.slice(..),
                    ..good
                },
                Error::SameBuffer {
                    op,
                    role: Role::Indices,
                },
            ),
        ];
        for (buffers, error) in cases {
            assert_eq!(encode(&buffers), Err(error));
        }
    }
}

/// What recording `plan` on `engine` with these params is refused with.
fn refusal(engine: &Engine, plan: &Plan, params: &wgpu::Buffer) -> Error {
    let pipeline = engine.pipeline(plan).wait().unwrap();
    let indices = buffer_with(engine, &[0; 24]);
    let output = buffer_with(engine, &[0; 96]);
    let buffers = Buffers::new(params.slice(..), indices.slice(..), output.slice(..));
    let mut encoder = engine.device().create_command_encoder(&Default::default());
    pipeline.encode(&mut encoder, &buffers).unwrap_err()
}

fn is_in_wgpus_words(error: &Error) -> bool {
    let what = "a bind group";
    matches!(error, Error::Gpu { what: got, .. } if *got == what)
}

#[test]
fn a_buffer_of_another_device_is_refused_in_wgpus_words() {
    for engine in engines() {
        let adapter = fresh_adapter(engine);
        let engine = || {
            let (device, queue) = device_on(&adapter, wgpu::Limits::downlevel_defaults());
            Engine::new(device, queue).wait().expect("an engine")
        };
        let (ours, theirs) = (engine(), engine());
        let error = refusal(&ours, &plan(), &buffer_with(&theirs, &[1; 128]));
        assert!(is_in_wgpus_words(&error), "{error}");
    }
}

#[test]
fn a_destroyed_buffer_is_refused() {
    for engine in engines() {
        let params = buffer_with(engine, &[1; 128]);
        params.destroy();
        let error = refusal(engine, &plan(), &params);
        assert!(is_in_wgpus_words(&error), "{error}");
    }
}

#[test]
fn a_planned_view_that_starts_before_its_data_is_refused() {
    let reversed = Layout::strided(&[8], &[-1], 0).unwrap();
    let (rules, indices) = (Rules::default(), Layout::contiguous(&[6]));
    let plan = Plan::new(
        Op::gather(0),
        &rules,
        4,
        &reversed,
        IndexType::I32,
        &indices,
    )
    .unwrap();
    for engine in engines() {
        let error = refusal(engine, &plan, &buffer_with(engine, &[1; 32]));
        assert_eq!(
            error.to_string(),
            "params: a view of shape [8], strides [-1] and offset 0 reaches outside its 8 elements"
        );
    }
}
