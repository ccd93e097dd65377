//! The integration tests, as one binary: wgpu links once.
#[test]
fn smoke() {
    use wgpu_gather::{verify::*, *};
    let execs = [
        Executor::Cpu,
        Executor::Gpu(pollster::block_on(gpu::Engine::headless(Some("vulkan"))).unwrap()),
        Executor::Gpu(pollster::block_on(gpu::Engine::headless(Some("gl"))).unwrap()),
    ];
    for e in &execs {
        let t = std::time::Instant::now();
        let mut r = Report::default();
        for call in builtin() {
            let o = pollster::block_on(check_call(&call, e));
            r.add(|| format!("{call:.0?}").chars().take(300).collect(), o);
        }
        println!("{} builtin {r} {:?}", e.describe(), t.elapsed());
        for f in r.failed.iter().take(4) {
            println!("{f:?}");
        }
        let t = std::time::Instant::now();
        for f in std::fs::read_dir("tests/conformance").unwrap() {
            let p = f.unwrap().path();
            if p.extension().unwrap() != "json" {
                continue;
            }
            let mut r = Report::default();
            for c in read_cases(&std::fs::read_to_string(&p).unwrap()).unwrap() {
                let o = pollster::block_on(run_case(&c, e));
                r.add(|| c.name.clone(), o);
            }
            println!("{} {p:?} {r}", e.describe());
            for f in r.failed.iter().take(4) {
                println!("{f:?}");
            }
        }
        println!("{:?}", t.elapsed());
    }
}
