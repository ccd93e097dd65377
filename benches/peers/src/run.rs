//! The libraries in Rust, all in this process.

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

use anyhow::{Result, anyhow, bail};
use burn_backend::Backend;
use burn_flex::Flex;
use burn_wgpu::{RuntimeOptions, Wgpu, WgpuSetup};
use wgpu_gather::wgpu;

use crate::args::RunArgs;
use crate::bench::case::Case;
use crate::gather::{Gather, Offer, Output, Peer, version};
use crate::line::{About, Entry, Figures, Line, OURS, Run, digits};
use crate::ours::{self, Device};
use crate::peers::{Burn, Candle, Ndarray};
use crate::race::{Times, race};
use crate::table;
use crate::task::{SETS, Size, Task, label, select};

/// What the rows of a case are divided by: on the CPU, and on an adapter in software.
pub(crate) const CPU_SCALE: usize = 8;
pub(crate) const SOFTWARE_SCALE: usize = 16;

/// The CPU path against its peers.
pub(crate) fn cpu(args: &RunArgs) -> Result<()> {
    let flex = Burn::<Flex> {
        name: "burn-flex",
        device: Default::default(),
    };
    let peers = wanted(vec![&flex, &Candle, &Ndarray], args)?;
    let size = Size {
        scale: args.cases.scale.unwrap_or(CPU_SCALE),
        memory: bytes(args.cases.memory),
        tensor: u64::MAX,
        copies: 1 + peers.len() as u64,
    };
    let run = Run::new("cpu", versions(&peers));
    run_all(args, run, &size, &peers, |task| {
        ours::on_cpu(task, &task.params)
    })
}

/// The GPU path against burn-wgpu, on one device and one queue.
pub(crate) fn gpu(args: &RunArgs) -> Result<()> {
    let device = Device::open(args.adapter.as_deref())?;
    let burn = burn_on(&device);
    let peers = wanted(vec![&burn], args)?;
    let software = device.engine.adapter().is_software();
    let usual = if software { SOFTWARE_SCALE } else { 1 };
    let size = Size {
        scale: args.cases.scale.unwrap_or(usual),
        memory: bytes(args.cases.memory),
        tensor: device
            .engine
            .device()
            .limits()
            .max_storage_buffer_binding_size,
        // Ours has two: see `ours::gpu`.
        copies: 2 + peers.len() as u64,
    };
    let mut run = Run::new("gpu", versions(&peers));
    run.versions.insert("wgpu".into(), version("wgpu").into());
    let compiler = Wgpu::name(&burn.device);
    run.versions.insert("burn's shaders".into(), compiler);
    run.describe(device.engine.adapter());
    run_all(args, run, &size, &peers, |task| {
        ours::on_gpu(&device.engine, task)
    })
}

/// burn on our device and queue.
pub(crate) fn burn_on(device: &Device) -> Burn<Wgpu> {
    let setup = WgpuSetup {
        instance: wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle()),
        adapter: device.adapter.clone(),
        device: device.engine.device().clone(),
        queue: device.engine.queue().clone(),
        backend: device.adapter.get_info().backend,
    };
    Burn {
        name: "burn-wgpu",
        device: burn_wgpu::init_device(setup, RuntimeOptions::default()).into(),
    }
}

pub(crate) fn bytes(gib: f64) -> u64 {
    (gib * f64::from(1 << 30)) as u64
}

fn versions(peers: &[&dyn Peer]) -> Vec<(String, String)> {
    let names: Vec<&str> = peers.iter().map(|peer| peer.name()).chain([OURS]).collect();
    versions_of(&names)
}

pub(crate) fn versions_of(names: &[&str]) -> Vec<(String, String)> {
    let versions = names
        .iter()
        .map(|&name| (name.into(), version(name).into()));
    versions.collect()
}

fn wanted<'a>(mut peers: Vec<&'a dyn Peer>, args: &RunArgs) -> Result<Vec<&'a dyn Peer>> {
    for name in &args.peer {
        if !peers.iter().any(|peer| peer.name() == name) {
            bail!("no peer here is called \"{name}\"");
        }
    }
    peers.retain(|peer| args.peer.is_empty() || args.peer.iter().any(|name| name == peer.name()));
    Ok(peers)
}

/// Loads our own contestants.
type Load<'f> = dyn for<'a> Fn(&'a Task) -> Result<Vec<Box<dyn Gather + 'a>>> + 'f;

fn run_all(
    args: &RunArgs,
    run: Run,
    size: &Size,
    peers: &[&dyn Peer],
    ours: impl for<'a> Fn(&'a Task) -> Result<Vec<Box<dyn Gather + 'a>>>,
) -> Result<()> {
    let mut lines = vec![Line::Run { run: Box::new(run) }];
    let mut failed = 0;
    for case in select(&args.cases)? {
        eprintln!("{}", label(&case));
        match run_case(args, &case, size, peers, &ours) {
            Ok(entries) => lines.extend(entries.into_iter().map(|e| Line::Result(Box::new(e)))),
            Err(error) => {
                eprintln!("{}: {error:#}", label(&case));
                failed += 1;
            }
        }
    }
    if let Some(path) = &args.out {
        let mut file = std::fs::File::create(path)?;
        for line in &lines {
            writeln!(file, "{}", serde_json::to_string(line)?)?;
        }
    }
    print!("{}", table::table(&lines));
    match failed {
        0 => Ok(()),
        failed => bail!("{failed} cases failed"),
    }
}

fn run_case(
    args: &RunArgs,
    case: &Case,
    size: &Size,
    peers: &[&dyn Peer],
    ours: &Load<'_>,
) -> Result<Vec<Entry>> {
    let task = Task::new(case, size)?;
    let about = About::new(&task);
    let mut racing = ours(&task)?;
    let mut names = vec![OURS; racing.len()];
    let right = racing[0].bytes(SETS - 1)?;
    for gather in &mut racing[1..] {
        check(gather.as_mut(), &right, OURS)?;
    }
    let mut entries = Vec::new();
    for peer in peers {
        match offer(*peer, &task, &right)? {
            Offer::Gather(gather) => {
                racing.push(gather);
                names.push(peer.name());
            }
            Offer::Not(reason) => entries.push(Entry {
                case: about.clone(),
                who: peer.name().to_owned(),
                call: None,
                output: Output::Fresh.name().to_owned(),
                times: None,
                not_offered: Some(reason),
            }),
        }
    }
    let times = race(&mut racing, args.seconds)?;
    let outputs: Vec<Output> = racing.iter().map(|gather| gather.output()).collect();
    let raced = racing.iter().enumerate().map(|(who, gather)| Entry {
        case: about.clone(),
        who: names[who].to_owned(),
        call: Some(gather.call()),
        output: gather.output().name().to_owned(),
        times: Some(figures(&times, who, &names, &outputs)),
        not_offered: None,
    });
    entries.splice(0..0, raced);
    Ok(entries)
}

/// The figures of one contestant; of a peer, with its ratios to ours.
fn figures(times: &Times, who: usize, names: &[&str], outputs: &[Output]) -> Figures {
    let against = |output: Output| {
        let ours = |&n: &usize| names[n] == OURS && outputs[n] == output;
        let ours = (0..names.len()).find(ours).filter(|_| names[who] != OURS);
        ours.map(|ours| digits(times.ratio(who, ours)))
    };
    let milliseconds = |part| digits(times.quantile(who, part));
    Figures {
        median_ms: milliseconds(0.5),
        p10_ms: milliseconds(0.1),
        p90_ms: milliseconds(0.9),
        rounds: times.rounds(),
        ratio: against(outputs[who]),
        ratio_into: against(Output::Kept),
        ratio_bound: against(Output::Bound),
    }
}

/// What a peer makes of a task. Libraries panic where they lack something.
fn offer<'a>(peer: &'a dyn Peer, task: &'a Task, right: &[u8]) -> Result<Offer<'a>> {
    let loaded = catch_unwind(AssertUnwindSafe(|| {
        let mut offer = peer.load(task)?;
        if let Offer::Gather(gather) = &mut offer {
            check(gather.as_mut(), right, peer.name())?;
        }
        Ok(offer)
    }));
    loaded.unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(anyhow!("{} panicked: {}", peer.name(), said.unwrap_or("")))
    })
}

/// Nothing wrong gets a time.
fn check(gather: &mut dyn Gather, right: &[u8], name: &str) -> Result<()> {
    let got = gather.bytes(SETS - 1)?;
    if got.len() != right.len() {
        bail!("{name}: {} bytes, not {}", got.len(), right.len());
    }
    match got.iter().zip(right).position(|(got, right)| got != right) {
        Some(at) => bail!(
            "{name}: byte {at} is {:#04x}, ours is {:#04x}",
            got[at],
            right[at]
        ),
        None => Ok(()),
    }
}
