//! Faults planted in the shaders' text, which the checks must report on every adapter.

mod table;

use gather_conformance::{Call, Outcome, check_call};
use wgpu_gather::gpu::Engine;
use wgpu_gather::{Executor, wgpu};

use crate::common::{block_on, engines};
use crate::faults::calls;
use crate::planted::{Change, faulty};
use crate::segments;
use table::Device::{self, FewWorkgroups, Segments, Whole};
pub(crate) use table::SHADER_FAULTS;

impl Device {
    /// Limits that show a fault.
    fn limits(self, engine: &Engine) -> wgpu::Limits {
        match self {
            Whole => engine.device().limits(),
            FewWorkgroups => wgpu::Limits {
                max_compute_workgroups_per_dimension: 3,
                ..wgpu::Limits::downlevel_defaults()
            },
            Segments => segments::limits(1024, 256 << 20, 8),
        }
    }

    /// Calls that show a fault.
    fn calls(self) -> Vec<Call> {
        match self {
            Whole => calls(),
            // 13 workgroups' worth of a row
            FewWorkgroups => vec![segments::rows_of(12_289)],
            Segments => segments::calls(),
        }
    }
}

/// The first call that reports `fault`, and what is wrong there.
fn first_report(
    engine: &Engine,
    device: Device,
    calls: &[Call],
    fault: Change,
) -> Option<(usize, String)> {
    let executor = Executor::Gpu(faulty(engine, device.limits(engine), fault));
    calls
        .iter()
        .enumerate()
        .find_map(|(n, call)| match block_on(check_call(call, &executor)) {
            Outcome::Failed(why) => Some((n, why)),
            _ => None,
        })
}

#[test]
fn faults_of_shaders_are_reported_on_every_adapter() {
    for device in [Whole, FewWorkgroups, Segments] {
        let calls = device.calls();
        for engine in engines() {
            let label = engine.adapter().label();
            for &(name, _, fault) in SHADER_FAULTS.iter().filter(|(_, on, _)| *on == device) {
                match first_report(engine, device, &calls, fault) {
                    None => assert_eq!(name, "none", "{label}, {device:?}: not reported"),
                    Some((n, why)) => {
                        assert_ne!(name, "none", "{label}: {why}");
                        assert!(!why.contains("wgpu refused"), "{label}: {name}: {why}");
                        println!("{label}: {name}: reported by call {n}: {why}");
                    }
                }
            }
        }
    }
}
