//! Devices of burn, and data on the host.

use std::path::Path;
use std::sync::OnceLock;

use burn::tensor::wgpu::WgpuBackend;
use burn::tensor::{Device, Int, Shape, Tensor, TensorData};
use wgpu_gather::wgpu::Features;
use wgpu_gather::{Executor, Op, Rules};
use wgpu_gather_burn::Gathers;

/// A device of burn, which the tests share.
pub(crate) struct Place {
    pub(crate) api: String,
    pub(crate) backend: WgpuBackend,
    pub(crate) device: Device,
    gathers: Gathers,
    /// Whether burn's own kernels have 64-bit integers there. Ours only move them.
    pub(crate) has_int64: bool,
}

impl Place {
    /// Gathers with reports of their own.
    pub(crate) fn gathers(&self) -> Gathers {
        self.gathers.with_own_reports()
    }
}

/// A device for each API. That there is none is a failure, not a skip.
pub(crate) fn places() -> &'static [Place] {
    static PLACES: OnceLock<Vec<Place>> = OnceLock::new();
    PLACES.get_or_init(|| {
        let apis = std::env::var("WGPU_GATHER_BURN_APIS").unwrap_or_else(|_| "vulkan,gl".into());
        let place = |api: &str| {
            let backend = match api {
                "vulkan" => WgpuBackend::Vulkan,
                "gl" => WgpuBackend::Gl,
                other => panic!("WGPU_GATHER_BURN_APIS: {other}; allowed: vulkan, gl"),
            };
            let options = Device::wgpu_options().graphics_api(backend);
            let (device, gathers) = Gathers::init(options).expect(api);
            println!("{}", gathers.engine().adapter().label());
            let features = gathers.engine().device().features();
            Place {
                api: api.to_owned(),
                backend,
                device,
                gathers,
                has_int64: features.contains(Features::SHADER_INT64),
            }
        };
        apis.split(',').map(place).collect()
    })
}

/// Runs a test that opens devices in a process of its own. The Vulkan loader and EGL crash where one
/// thread opens a device and another uses one.
pub(crate) fn alone(name: &str, test: fn()) {
    alone_in(Path::new("."), name, test);
}

/// [`alone`], in a folder: cubecl looks for its configuration there.
pub(crate) fn alone_in(folder: &Path, name: &str, test: fn()) {
    const CHILD: &str = "WGPU_GATHER_BURN_CHILD";
    if std::env::var_os(CHILD).is_some() {
        return test();
    }
    let myself = std::env::current_exe().expect("a path");
    let child = std::process::Command::new(myself)
        .args(["--exact", name, "--nocapture"])
        .current_dir(folder)
        .env(CHILD, "1")
        .output();
    let child = child.expect("a process");
    let [said, errors] = [&child.stdout, &child.stderr].map(|text| String::from_utf8_lossy(text));
    let has_run = child.status.success() && said.contains("1 passed");
    assert!(has_run, "{}: {said}{errors}", child.status);
}

/// A number from the environment.
pub(crate) fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| text.parse().expect(name))
}

/// What a gather gives by its definition, from values on the host.
pub(crate) fn defined<T: wgpu_gather::Element>(
    op: Op,
    rules: &Rules,
    (params, params_shape): (Vec<T>, &[usize]),
    (indices, indices_shape): (Vec<i32>, &[usize]),
) -> (Vec<T>, Vec<usize>) {
    let params = wgpu_gather::Tensor::new(params_shape, params).expect("params");
    let indices = wgpu_gather::Tensor::new(indices_shape, indices).expect("indices");
    let output = Executor::Reference.gather(op, rules, &params, &indices);
    let output = output.wait().expect("the call is good");
    (output.data().to_vec(), output.shape().to_vec())
}

/// The values of a tensor of integers.
pub(crate) fn ints<const D: usize>(tensor: &Tensor<D, Int>) -> Vec<i32> {
    tensor.to_data().iter::<i32>().collect()
}

/// Data of a shape.
pub(crate) fn data<E: burn::tensor::Element>(values: Vec<E>, shape: &[usize]) -> TensorData {
    TensorData::new(values, Shape::from(shape.to_vec()))
}

/// Numbers that look random: SplitMix64.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub(crate) fn of<T: Clone>(&mut self, options: &[T]) -> T {
        options[self.below(options.len())].clone()
    }
}
