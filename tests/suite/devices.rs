//! Devices that are small, destroyed or have too little: typed errors, no panic.

use gather_conformance::{Outcome, builtin, check_call};
use wgpu_gather::gpu::{Engine, Options, internals, requirements};
use wgpu_gather::{Error, Executor, Op, OpKind, Role, Rules, Tensor, wgpu};

use crate::common::{
    assert_all_passed, block_on, check_all, device_on, engines, fresh_adapter, fresh_device,
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
        let cache = options.pipeline_cache.clone();
        let own = Engine::with_options(device, queue, options)
            .wait()
            .expect("an engine");
        // All storage buffers but two are for segments of params, up to 8.
        let buffers = own.device().limits().max_storage_buffers_per_shader_stage;
        let all = internals::pipelines((buffers - 2).min(8));
        assert_eq!(own.compile_all().wait().unwrap(), all.len());
        let data = cache.and_then(|cache| cache.get_data());
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
