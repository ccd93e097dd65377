//! Devices that are small, foreign, destroyed or out of memory: typed errors, no panic.

use gather_conformance::{Outcome, builtin, check_call};
use wgpu_gather::gpu::{Buffers, Engine, Options, internals, requirements};
use wgpu_gather::{
    Error, Executor, IndexType, Layout, Op, OpKind, Plan, Role, Rules, Tensor, wgpu,
};

use crate::common::{
    assert_all_passed, block_on, buffer_with, check_all, device_on, engines, fresh_adapter,
    fresh_device,
};

#[test]
fn the_least_limits_that_wgpu_knows_are_enough() {
    for engine in engines() {
        let (device, queue) = fresh_device(engine, wgpu::Limits::downlevel_defaults());
        let small = Engine::new(device, queue).wait().expect("an engine");
        let calls: Vec<_> = builtin().into_iter().step_by(3).collect();
        let report = check_all(&calls, &Executor::Gpu(small));
        assert_all_passed("downlevel_defaults", &report);
    }
}

#[test]
fn few_workgroups_per_dimension_fold() {
    for engine in engines() {
        let limits = wgpu::Limits {
            max_compute_workgroups_per_dimension: 3,
            ..wgpu::Limits::downlevel_defaults()
        };
        let (device, queue) = fresh_device(engine, limits);
        let small = Engine::new(device, queue).wait().expect("an engine");
        let mut folded = 0;
        for call in builtin() {
            match block_on(check_call(&call, &Executor::Gpu(small.clone()))) {
                Outcome::Passed => folded += 1,
                // more than 3 × 3 workgroups
                Outcome::Failed(why) => assert!(why.contains("the number of workgroups"), "{why}"),
                Outcome::Skipped(why) => panic!("{why}"),
            }
        }
        assert!(folded > 1000, "{folded}");
    }
}

#[test]
fn what_cannot_be_cut_into_segments_names_the_limit() {
    for engine in engines() {
        let limits = wgpu::Limits {
            max_storage_buffer_binding_size: 4096,
            ..wgpu::Limits::downlevel_defaults()
        };
        let (device, queue) = fresh_device(engine, limits);
        let small = Engine::new(device, queue).wait().expect("an engine");
        // Elements of 2,000 bytes: neighbouring segments of params share 1,024.
        let table = Tensor::new(&[3], vec![[7u8; 2000]; 3]).unwrap();
        let table = small.upload(&table).wait().unwrap();
        let pairs = Tensor::new(&[2, 2000], vec![0i32; 4000]).unwrap();
        let pairs = small.upload(&pairs).wait().unwrap();
        let gather = |op, indices: &_| {
            let made = small.gather(op, &Rules::default(), &table, indices);
            made.map(|_| ()).unwrap_err()
        };
        let ids = pairs.slice(0, 0..1).unwrap().reshape(&[2000]).unwrap();
        assert_eq!(
            gather(Op::gather(0), &ids),
            Error::TensorTooLarge {
                op: OpKind::Gather,
                role: Role::Params,
                bytes: 2000,
                limit: 1024,
            }
        );
        // Index tuples of one coordinate fit anywhere; of two, 8,000 bytes apart, they do not.
        let square = small
            .upload(&Tensor::new(&[9, 9], vec![1u8; 81]).unwrap())
            .wait();
        let apart = pairs.permute(&[1, 0]).unwrap();
        let made = small.gather(Op::gather_nd(), &Rules::default(), &square.unwrap(), &apart);
        assert_eq!(
            made.map(|_| ()).unwrap_err(),
            Error::TensorTooLarge {
                op: OpKind::GatherNd,
                role: Role::Indices,
                bytes: 8004,
                limit: 4096,
            }
        );
    }
}

#[test]
fn a_destroyed_device_is_an_error() {
    for engine in engines() {
        let own = Engine::headless(Some(&engine.adapter().label()))
            .wait()
            .expect("an engine");
        let run = |engine: &Engine| {
            let params = Tensor::new(&[2], vec![1u32, 2]).unwrap();
            let ids = Tensor::new(&[1], vec![1i32]).unwrap();
            let executor = Executor::Gpu(engine.clone());
            executor
                .gather(Op::gather(0), &Rules::default(), &params, &ids)
                .wait()
        };
        assert!(run(&own).is_ok());
        own.device().destroy();
        let _ = own.device().poll(wgpu::PollType::Poll);
        assert!(
            matches!(run(&own), Err(Error::DeviceLost { .. })),
            "{:?}",
            run(&own)
        );

        // A device of the caller: we hear of its loss only when a call fails.
        let (device, queue) = fresh_device(engine, wgpu::Limits::downlevel_defaults());
        let theirs = Engine::new(device.clone(), queue)
            .wait()
            .expect("an engine");
        assert!(run(&theirs).is_ok());
        device.destroy();
        assert!(
            matches!(run(&theirs), Err(Error::DeviceLost { .. })),
            "{:?}",
            run(&theirs)
        );
        assert!(run(engine).is_ok(), "other devices work on");
    }
}

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
        let good = Buffers {
            params: params.slice(..),
            indices: indices.slice(..),
            output: output.slice(..),
            status: None,
            flag: false,
            count: None,
        };
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
    let buffers = Buffers {
        params: params.slice(..),
        indices: indices.slice(..),
        output: output.slice(..),
        status: None,
        flag: false,
        count: None,
    };
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

#[test]
fn a_device_with_too_little_is_refused_by_the_name_of_the_limit() {
    for engine in engines() {
        let limits = wgpu::Limits {
            max_storage_buffers_per_shader_stage: 2,
            ..wgpu::Limits::downlevel_defaults()
        };
        let (device, queue) = fresh_device(engine, limits);
        assert_eq!(
            Engine::new(device, queue).wait().unwrap_err(),
            Error::MissingLimit {
                limit: "max_storage_buffers_per_shader_stage".to_owned(),
                needed: 3,
                got: 2,
            }
        );
        // What is said to be needed is enough, and what is said to be usable can be had.
        let adapter = fresh_adapter(engine);
        let (device, queue) = device_on(&adapter, requirements::required_limits());
        assert!(Engine::new(device, queue).wait().is_ok());
        let usable = requirements::usable_limits(&adapter);
        assert_eq!(usable.max_buffer_size, adapter.limits().max_buffer_size);
        let (device, queue) = device_on(&adapter, usable);
        assert!(Engine::new(device, queue).wait().is_ok());
        assert!(
            adapter
                .features()
                .contains(requirements::usable_features(&adapter))
        );
    }
}

#[test]
fn pipelines_are_compiled_ahead_and_can_be_saved() {
    let mut saved = 0;
    for engine in engines() {
        let adapter = fresh_adapter(engine);
        let descriptor = wgpu::DeviceDescriptor {
            required_features: requirements::usable_features(&adapter),
            required_limits: requirements::usable_limits(&adapter),
            ..Default::default()
        };
        let (device, queue) = block_on(adapter.request_device(&descriptor)).expect("a device");
        let mut options = Options::default();
        if device.features().contains(wgpu::Features::PIPELINE_CACHE) {
            options.pipeline_cache = Some(pipeline_cache(&device));
        }
        let has_cache = options.pipeline_cache.is_some();
        let own = Engine::with_options(device, queue, options)
            .wait()
            .expect("an engine");
        // All storage buffers but two are for segments of params, up to 8.
        let buffers = own.device().limits().max_storage_buffers_per_shader_stage;
        let all = internals::pipelines((buffers - 2).min(8));
        assert_eq!(own.compile_all().wait().unwrap(), all.len());
        let data = own.pipeline_cache_data();
        assert_eq!(data.is_some(), has_cache);
        saved += data.map_or(0, |data| data.len());
    }
    let vulkan = engines()
        .iter()
        .any(|e| e.adapter().api == wgpu::Backend::Vulkan);
    assert_eq!(saved > 0, vulkan, "Vulkan saves pipelines");
}

#[allow(unsafe_code, reason = "wgpu's call is unsafe")]
fn pipeline_cache(device: &wgpu::Device) -> wgpu::PipelineCache {
    let descriptor = wgpu::PipelineCacheDescriptor {
        label: None,
        data: None,
        fallback: true,
    };
    // SAFETY: there is no data that could be of another device.
    unsafe { device.create_pipeline_cache(&descriptor) }
}
