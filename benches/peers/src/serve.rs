//! Ours for the Python side. It asks in lines of JSON and is answered in lines of JSON; tensors go
//! through files. So both take turns, and both have the same bytes.

use std::fs;
use std::io::{BufRead, Write};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use memmap2::MmapMut;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::args::ServeArgs;
use crate::bench::case::Case;
use crate::gather::{Gather, Sets, version};
use crate::line::{About, OURS, Run};
use crate::ours::{self, Device};
use crate::run::{CPU_SCALE, SOFTWARE_SCALE, bytes};
use crate::task::{SETS, Size, Task, label, select};

/// How often params are in memory: ours, NumPy's (which others share), and two copies.
const COPIES: u64 = 4;

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Request {
    /// Puts the tensors of the case with this number into the folder, with the output of the last
    /// set.
    Case(usize),
    /// Gathers `untimed + count` times, from set number `first` on.
    Time {
        output: String,
        first: usize,
        untimed: usize,
        count: usize,
    },
}

/// Answers until the other side has heard enough.
pub(crate) fn serve(args: &ServeArgs) -> Result<()> {
    let device = match &args.adapter {
        Some(adapter) => Some(Device::open(Some(adapter))?),
        None => None,
    };
    let software = device
        .as_ref()
        .is_some_and(|d| d.engine.adapter().is_software());
    let usual = match (&device, software) {
        (None, _) => CPU_SCALE,
        (_, true) => SOFTWARE_SCALE,
        _ => 1,
    };
    let size = Size {
        scale: args.cases.scale.unwrap_or(usual),
        memory: bytes(args.cases.memory),
        tensor: u64::MAX,
        copies: COPIES,
    };
    let on = if device.is_some() { "gpu" } else { "cpu" };
    let mut run = Run::new(on, [(OURS.into(), version(OURS).into())]);
    if let Some(device) = &device {
        run.describe(device.engine.adapter());
    }
    let cases = select(&args.cases)?;
    let names: Vec<String> = cases.iter().map(label).collect();
    answer(&json!({ "run": run, "cases": names }))?;
    let mut asked = next()?;
    while let Some(request) = asked {
        let Request::Case(number) = request else {
            bail!("no case was asked for");
        };
        let case = cases.get(number);
        let case = case.with_context(|| format!("no case has number {number}"))?;
        asked = serve_case(args, case, &size, device.as_ref())?;
    }
    Ok(())
}

/// Serves one case, up to the first request that is for another.
fn serve_case(
    args: &ServeArgs,
    case: &Case,
    size: &Size,
    device: Option<&Device>,
) -> Result<Option<Request>> {
    let task = Task::new(case, size)?;
    let params = huge(&task.params)?;
    let mut ours = match device {
        Some(device) => ours::on_gpu(&device.engine, &task)?,
        None => ours::on_cpu(&task, &params[..task.params.len()])?,
    };
    let write = |name: String, bytes: &[u8]| fs::write(args.folder.join(name), bytes);
    write("params".into(), &task.params)?;
    for (n, set) in task.indices.iter().enumerate() {
        write(format!("indices-{n}"), set)?;
    }
    write("output".into(), &ours[0].bytes(SETS - 1)?)?;
    let calls = ours
        .iter()
        .map(|gather| (gather.output().name(), gather.call()));
    let calls: serde_json::Map<String, Value> = calls
        .map(|(output, call)| (output.to_owned(), call.into()))
        .collect();
    answer(&json!({ "case": About::new(&task), "sets": SETS, "ours": calls }))?;
    time_on_request(&mut ours)
}

/// Times our calls as it is asked to, up to the first request for something else.
pub(crate) fn time_on_request(ours: &mut [Box<dyn Gather + '_>]) -> Result<Option<Request>> {
    loop {
        match next()? {
            Some(Request::Time {
                output,
                first,
                untimed,
                count,
            }) => {
                let gather = ours.iter_mut().find(|g| g.output().name() == output);
                let gather = gather.with_context(|| format!("no output \"{output}\""))?;
                gather.run(Sets::new(first, untimed))?;
                let seconds = time(gather.as_mut(), first + untimed, count)?;
                answer(&json!({ "seconds": seconds }))?;
            }
            other => return Ok(other),
        }
    }
}

/// Seconds that one of `count` gathers takes.
fn time(gather: &mut dyn Gather, first: usize, count: usize) -> Result<f64> {
    let started = Instant::now();
    gather.run(Sets::new(first, count))?;
    Ok(started.elapsed().as_secs_f64() / count as f64)
}

/// A copy in huge pages where the system has them, as NumPy's arrays are.
pub(crate) fn huge(bytes: &[u8]) -> Result<MmapMut> {
    let mut memory = MmapMut::map_anon(bytes.len().max(1))?;
    #[cfg(target_os = "linux")]
    // Without huge pages it is as right, and slower.
    let _ = memory.advise(memmap2::Advice::HugePage);
    memory[..bytes.len()].copy_from_slice(bytes);
    Ok(memory)
}

/// The next request; none at the end.
pub(crate) fn next() -> Result<Option<Request>> {
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    if line.is_empty() {
        return Ok(None);
    }
    let request = serde_json::from_str(&line);
    Ok(Some(request.with_context(|| format!("request {line:?}"))?))
}

pub(crate) fn answer(value: &Value) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{value}")?;
    Ok(stdout.flush()?)
}
