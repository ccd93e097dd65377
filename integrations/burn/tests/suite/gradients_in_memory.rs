//! Where gradients lie: among other tensors in one buffer, and beyond what one binding reaches.

use burn::tensor::wgpu::WgpuSetup;
use burn::tensor::{Device, Tensor};
use wgpu_gather::{Rules, wgpu};
use wgpu_gather_burn::{Gathers, Op};

use crate::gradients::{below, floats};
use crate::kit::{Numbers, alone, alone_in, ints, places};

/// Without cubecl's persistent pool, an output lies where a tensor of its size was before, and behind it
/// those that still live.
#[test]
fn a_gradient_writes_to_nothing_but_itself() {
    let name = "gradients_in_memory::a_gradient_writes_to_nothing_but_itself";
    let folder = std::env::temp_dir().join(format!("wgpu-gather-burn-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let config = "[memory]\npersistent_memory = \"disabled\"\n";
    std::fs::write(folder.join("cubecl.toml"), config).expect("a configuration");
    alone_in(&folder, name, among_others);
    std::fs::remove_dir_all(&folder).expect("the folder");
}

fn among_others() {
    for place in places() {
        let (gathers, device) = (place.gathers(), place.device.clone().autodiff());
        let mut n = Numbers(11);
        let params = floats([64, 64], &mut n, &device);
        let ids = below(64, [4096], &mut n, &device);
        let weights = floats([4096, 64], &mut n, &device);
        let filled = |n: usize| Tensor::<2>::full([64, 64], n as f32, &place.device);
        let mut others: Vec<Option<Tensor<2>>> = (0..32).map(|n| Some(filled(n))).collect();
        place.device.sync().expect("a device");
        others.iter_mut().step_by(4).for_each(|other| *other = None);

        let gradient = |look_up: &dyn Fn(Tensor<2>) -> Tensor<2>| {
            let params = params.clone().detach().require_grad();
            let loss = (look_up(params.clone()) * weights.clone()).sum();
            let gradient = params.grad(&loss.backward()).expect("a gradient");
            gradient.to_data().iter::<f32>().collect::<Vec<_>>()
        };
        let ours = gradient(&|params| {
            let rows = gathers.gather(Op::gather(0), &Rules::TORCH, params, ids.clone());
            rows.expect("the call is good")
        });
        for (n, other) in others.iter().enumerate() {
            let Some(other) = other else { continue };
            let kept = other.to_data().iter::<f32>().all(|value| value == n as f32);
            assert!(kept, "{}: tensor {n} was overwritten", place.api);
        }
        let by_burn = gradient(&|params| params.select(0, ids.clone()));
        assert_eq!(ours, by_burn, "{}", place.api);
        assert_eq!(gathers.check(), Ok(()));
    }
}

/// The gradient of a transposed tensor of 2.4 MB, where a binding reaches 1 MiB of it.
#[test]
fn a_strided_gradient_beyond_a_binding_is_added_up() {
    let name = "gradients_in_memory::a_strided_gradient_beyond_a_binding_is_added_up";
    alone(name, beyond_a_binding);
}

fn beyond_a_binding() {
    let instance = wgpu::Instance::default();
    let adapter = pollster::block_on(instance.request_adapter(&Default::default())).unwrap();
    let wanted = wgpu::DeviceDescriptor {
        required_limits: wgpu::Limits {
            max_storage_buffer_binding_size: 1 << 20,
            ..adapter.limits()
        },
        ..Default::default()
    };
    let (device, queue) = pollster::block_on(adapter.request_device(&wanted)).unwrap();
    let backend = adapter.get_info().backend;
    let setup = WgpuSetup {
        instance,
        adapter,
        device,
        queue,
        backend,
    };
    let (device, gathers) = Gathers::share(Device::wgpu_options(), setup).unwrap();
    let device = device.autodiff();
    let mut n = Numbers(12);
    let params = floats([10, 1000], &mut n, &device).require_grad();
    let rows = below(10, [600], &mut n, &device);
    let columns = below(1000, [5], &mut n, &device);
    let weights = floats([5, 600], &mut n, &device);
    let look_up = |params, ids| -> Tensor<2> {
        gathers
            .gather(Op::gather(0), &Rules::TORCH, params, ids)
            .expect("the call is good")
    };
    let turned = look_up(params.clone(), rows.clone()).transpose();
    let loss = (look_up(turned, columns.clone()) * weights.clone()).sum();
    let gradient = params.grad(&loss.backward()).expect("a gradient");
    assert_eq!(gathers.check(), Ok(()));

    let weights: Vec<f32> = weights.to_data().iter().collect();
    let (rows, columns) = (ints(&rows), ints(&columns));
    let mut expected = vec![0.0f32; 10 * 1000];
    for (c, &column) in columns.iter().enumerate() {
        for (r, &row) in rows.iter().enumerate() {
            expected[row as usize * 1000 + column as usize] += weights[c * 600 + r];
        }
    }
    let got: Vec<f32> = gradient.to_data().iter().collect();
    assert_eq!(got, expected);
}
