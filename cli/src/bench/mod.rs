//! `wgpu-gather bench`: how fast, and how close to a copy of the same bytes.

pub(crate) mod args;
pub(crate) mod case;
mod cases;
mod copy;
mod device;
mod dispatches;
mod host;
mod inputs;
pub(crate) mod moved;
pub(crate) mod pattern;
#[cfg(feature = "plots")]
mod plot;
mod progress;
mod report;
pub(crate) mod result;
mod run_cpu;
pub(crate) mod run_gpu;
mod sample;
pub(crate) mod shape;
mod table;
mod table_call;
mod tensors;
mod timing;
pub(crate) mod traffic;
mod values;
pub(crate) mod verb;
mod waves;

use std::path::Path;

use anyhow::{Result, bail, ensure};
use wgpu_gather::{Error, Executor};

use crate::answer::Answer;
use crate::backend::Backend;
use crate::bench::args::BenchArgs;
use crate::bench::case::{Case, Scaled};
use crate::bench::progress::Progress;
use crate::bench::result::{Figures, Line, Place};
use crate::bench::run_cpu::Cpu;
use crate::bench::run_gpu::{Aside, Gpu};
use crate::rules;

/// What the rows of a case are divided by where no GPU computes.
const SMALL: usize = 16;
/// The most that a case is divided by to make it fit.
const MOST_SCALE: usize = 1 << 20;

/// Runs the benchmarks, or says which there are.
pub(crate) fn run(args: &BenchArgs) -> Result<Answer> {
    if let Some(path) = &args.plot {
        let svg = path
            .extension()
            .is_some_and(|e| e.eq_ignore_ascii_case("svg"));
        ensure!(
            svg,
            "plot {}: not a plot file (allowed: FILE.svg)",
            path.display()
        );
    }
    let draw = args.plot.as_ref().map(|_| drawing()).transpose()?;
    let mut failed = Vec::new();
    let lines = if args.from.is_empty() {
        let cases = select(args)?;
        if args.list {
            let scale = args.scale.map_or(SMALL, |scale| scale as usize);
            return report::list(&cases, scale, args.json);
        }
        run_all(args, &cases, &mut failed)?
    } else {
        let files: Result<Vec<_>> = args.from.iter().map(|path| result::read(path)).collect();
        files?.concat()
    };
    if let (Some(path), Some(draw)) = (&args.plot, draw)
        && let Err(error) = write_plot(path, &lines, draw)
    {
        failed.push(error.context(format!("plot {}", path.display())));
    }
    let text = match args.json {
        true => report::json_lines(&lines)?,
        false => report::table(&lines),
    };
    Ok(Answer::good(text).despite(failed))
}

/// Draws results as SVG.
type Draw = fn(&[Line]) -> Result<String>;

/// How results are drawn, if this build can.
fn drawing() -> Result<Draw> {
    #[cfg(feature = "plots")]
    return Ok(plot::draw);
    #[cfg(not(feature = "plots"))]
    bail!(crate::features::NotBuilt {
        option: "--plot",
        feature: "plots"
    })
}

fn write_plot(path: &Path, lines: &[Line], draw: Draw) -> Result<()> {
    let figures = lines.iter().any(|line| line.figures.is_some());
    ensure!(figures, "there are no figures to draw");
    Ok(std::fs::write(path, draw(lines)?)?)
}

/// The cases that the command line asks for.
fn select(args: &BenchArgs) -> Result<Vec<Case>> {
    if let Some(own) = args.own()? {
        let scaled = own.scaled(1, &rules::resolve(&args.rules, own.dtype)?)?;
        if let Some(reason) = unusable(&scaled) {
            bail!(reason);
        }
        return Ok(vec![own]);
    }
    let mut all = cases::all();
    let wanted: Vec<&str> = args.case.iter().map(String::as_str).collect();
    let is_wanted = |case: &Case, wanted: &str| case.name == wanted || case.group == wanted;
    for name in &wanted {
        if !all.iter().any(|case| is_wanted(case, name)) {
            let groups = cases::GROUPS.map(|(group, _)| group).join(", ");
            bail!("no case is called \"{name}\" (groups: {groups}; bench --list prints the cases)");
        }
    }
    match (wanted.is_empty(), args.list) {
        (true, true) => {}
        (true, false) => all.retain(|case| case.group == cases::GROUPS[0].0),
        (false, _) => all.retain(|case| wanted.iter().any(|name| is_wanted(case, name))),
    }
    if let Some(pattern) = args.pattern {
        all.iter_mut().for_each(|case| case.pattern = pattern);
    }
    Ok(all)
}

/// A backend, opened.
enum Runner {
    Gpu(Gpu),
    Cpu(Cpu),
}

impl Runner {
    fn open(backend: Backend, args: &BenchArgs) -> Result<Self> {
        let wanted = args.adapter.as_deref();
        let aside = Aside {
            transfers: args.transfers,
            dispatches: args.dispatches,
        };
        let gpu = || Gpu::open(wanted, aside).map(Runner::Gpu);
        Ok(match backend {
            Backend::Gpu => gpu()?,
            Backend::Auto if wanted.is_some() => gpu()?,
            Backend::Auto => match Gpu::open_hardware(aside)? {
                Some(gpu) => Runner::Gpu(gpu),
                None => Runner::Cpu(Cpu::new(Executor::Cpu)),
            },
            Backend::Cpu => Runner::Cpu(Cpu::new(Executor::Cpu)),
            Backend::Reference => Runner::Cpu(Cpu::new(Executor::Reference)),
        })
    }

    fn place(&self) -> Place {
        match self {
            Runner::Gpu(gpu) => gpu.place(),
            Runner::Cpu(cpu) => cpu.place(),
        }
    }

    fn run(&self, scaled: &Scaled, seconds: f64) -> Result<Figures> {
        match self {
            Runner::Gpu(gpu) => gpu.run(scaled, seconds),
            Runner::Cpu(cpu) => cpu.run(scaled, seconds),
        }
    }
}

/// Runs every case on every backend. What goes wrong with one is kept for the end.
fn run_all(args: &BenchArgs, cases: &[Case], failed: &mut Vec<anyhow::Error>) -> Result<Vec<Line>> {
    let on_gpu = |backend: &Backend| matches!(backend, Backend::Auto | Backend::Gpu);
    ensure!(
        args.adapter.is_none() || args.backend.iter().any(on_gpu),
        "--adapter needs --backend gpu or auto; the CPU path has no adapter"
    );
    let runners = args
        .backend
        .iter()
        .map(|&backend| Runner::open(backend, args));
    let runners: Vec<Runner> = runners.collect::<Result<_>>()?;
    let progress = Progress::new(runners.len() * cases.len());
    let mut lines = Vec::new();
    for runner in &runners {
        let place = runner.place();
        for case in cases {
            progress.next(&case.name, &place);
            match run_case(runner, &place, case, args) {
                Ok(line) => lines.push(line),
                Err(error) => {
                    failed.push(error.context(format!("{} on {}", case.name, place.label())));
                }
            }
        }
    }
    progress.end();
    Ok(lines)
}

/// Runs one case at the largest size that fits.
fn run_case(runner: &Runner, place: &Place, case: &Case, args: &BenchArgs) -> Result<Line> {
    let rules = rules::resolve(&args.rules, case.dtype)?;
    let usual = match runner {
        Runner::Gpu(_) if !place.software_adapter => 1,
        _ => SMALL,
    };
    let asked = args.scale.map_or(usual, |scale| scale as usize);
    let mut line = Line::new(&case.scaled(asked, &rules)?, place);
    let mut too_large = None;
    let mut scale = asked;
    loop {
        let scaled = case.scaled(scale, &rules)?;
        if let Some(reason) = unusable(&scaled) {
            line.skipped = Some(reason);
            return Ok(line);
        }
        let error = match runner.run(&scaled, args.seconds) {
            Ok(figures) => {
                let figures = Some(figures);
                let scaled_because = too_large;
                line = Line::new(&scaled, place);
                return Ok(Line {
                    figures,
                    scaled_because,
                    ..line
                });
            }
            Err(error) => error,
        };
        if !is_about_size(&error) || case.group == "own" {
            return Err(error);
        }
        let reason = too_large.get_or_insert_with(|| format!("{error:#}"));
        if !scaled.case.shrinks() || scale >= MOST_SCALE {
            line.skipped = Some(reason.clone());
            return Ok(line);
        }
        scale *= 2;
    }
}

/// Why a case cannot be timed.
pub(crate) fn unusable(scaled: &Scaled) -> Option<String> {
    if scaled.plan.is_empty() {
        return Some(format!(
            "nothing to time: the output {:?} is empty",
            scaled.plan.output_shape()
        ));
    }
    (scaled.case.bad > 0.0 && scaled.plan.reports_bad_indices())
        .then(|| "bad indices end a gather under these rules, so there is nothing to time".into())
}

/// Whether smaller tensors would help.
fn is_about_size(error: &anyhow::Error) -> bool {
    matches!(
        error.downcast_ref::<Error>(),
        Some(
            Error::TensorTooLarge { .. }
                | Error::TooMany { .. }
                | Error::GpuOutOfMemory { .. }
                | Error::HostOutOfMemory { .. }
        )
    )
}
