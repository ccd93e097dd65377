//! `wgpu-gather verify`: is this executor right, bit for bit?

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use gather_conformance::{Call, Outcome, Report, builtin, check_call};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};
use wgpu_gather::{Executor, OpKind};

use crate::answer::Answer;
use crate::args::VerifyArgs;
use crate::backend::Chosen;
use crate::random::{self, CheckFirst, Found, Kind};
use crate::recorded::Recorded;
use crate::tally::Tally;
use crate::text;

/// Runs the built-in calls, random ones, or the cases of the given files.
pub(crate) fn run(args: &VerifyArgs) -> Result<Answer> {
    let (files, unreadable) = read_all(&args.cases);
    if files.is_empty() && !unreadable.is_empty() {
        return Ok(Answer::good(String::new()).despite(unreadable));
    }
    let random = match args.random {
        Some(count) => Some((count, random::check_first(args.kind())?)),
        None => None,
    };
    let chosen = Chosen::new(&args.backend)?;
    let pipelines = match args.pipelines {
        true => Some(compile_all(&chosen)?),
        false => None,
    };
    let checked = match random {
        Some((count, check_first)) => check_random(&chosen, args, count, check_first),
        None if files.is_empty() => check_builtin(&chosen),
        None => check_files(&files, &chosen),
    };
    let good = checked.total.failed.is_empty();
    let answer = match args.json {
        true => Answer::json(&as_json(&chosen, pipelines, &checked, &unreadable), good),
        false => Answer::checked(as_text(&chosen, pipelines, &checked), good),
    };
    Ok(answer.despite(unreadable))
}

/// A file that could be read, and its cases.
type CaseFile<'a> = (&'a Path, Vec<Recorded>);

/// The files that can be read, and why the others cannot.
fn read_all(paths: &[PathBuf]) -> (Vec<CaseFile<'_>>, Vec<anyhow::Error>) {
    let (mut files, mut unreadable) = (Vec::new(), Vec::new());
    for path in paths {
        match read(path) {
            Ok(cases) => files.push((path.as_path(), cases)),
            Err(error) => unreadable.push(error),
        }
    }
    (files, unreadable)
}

fn read(path: &Path) -> Result<Vec<Recorded>> {
    let named = || format!("cases {}", path.display());
    let text = fs::read_to_string(path).with_context(named)?;
    Recorded::read(&text).with_context(named)
}

/// Compiles every pipeline; says how many there are.
fn compile_all(chosen: &Chosen) -> Result<usize> {
    match &chosen.executor {
        Executor::Gpu(engine) => {
            let compiled = engine.compile_all().wait();
            compiled.with_context(|| format!("--pipelines on {}", engine.adapter().label()))
        }
        _ => bail!("--pipelines needs a GPU; this is {}", chosen.describe()),
    }
}

/// What was checked, and the outcomes.
struct Checked {
    /// In words.
    what: String,
    total: Report,
    /// The outcomes by kind of call; random ones are not told apart.
    tally: Tally,
    /// The random call that went wrong.
    found: Option<Found>,
}

impl Checked {
    fn new(what: String, tally: Tally) -> Self {
        Checked {
            what,
            total: tally.total(),
            tally,
            found: None,
        }
    }
}

fn check_builtin(chosen: &Chosen) -> Checked {
    let calls = builtin();
    let bar = bar(calls.len() as u64);
    let mut tally = Tally::default();
    for call in &calls {
        let outcome = pollster::block_on(check_call(call, &chosen.executor));
        tally.add(group(call), || label(call), outcome);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let what = format!("{} built-in calls, against the reference", calls.len());
    Checked::new(what, tally)
}

fn check_files(files: &[CaseFile<'_>], chosen: &Chosen) -> Checked {
    let cases: Vec<&Recorded> = files.iter().flat_map(|(_, cases)| cases).collect();
    let bar = bar(cases.len() as u64);
    let mut tally = Tally::default();
    for case in &cases {
        let outcome = case.run(&chosen.executor);
        tally.add(case.group(), || case.label(), outcome);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let paths: Vec<String> = files.iter().map(|(p, _)| p.display().to_string()).collect();
    let what = format!("{} recorded cases of {}", cases.len(), paths.join(", "));
    Checked::new(what, tally)
}

fn check_random(
    chosen: &Chosen,
    args: &VerifyArgs,
    count: u32,
    check_first: CheckFirst,
) -> Checked {
    let seed = args.seed;
    let bar = bar(u64::from(count));
    let done = |done| bar.set_position(u64::from(done));
    let found = random::check(&chosen.executor, check_first, count, seed, done);
    bar.finish_and_clear();
    let agreed = found.as_ref().map_or(count, |found| found.agreed);
    let mut total = Report {
        passed: agreed as usize,
        ..Report::default()
    };
    let random = match args.kind() {
        Kind::Gathers => "random",
        Kind::Large => "large random",
    };
    let calls = |n: u32| match n {
        1 => format!("1 {random} call"),
        n => format!("{} {random} calls", text::grouped(n as usize)),
    };
    let mut what = calls(count);
    if let Some(found) = &found {
        what = format!("{} of {what}", text::grouped(agreed as usize + 1));
        total.add(|| found.label(), Outcome::Failed(found.difference.clone()));
    }
    Checked {
        what: format!("{what} of seed {seed}, against the reference"),
        total,
        tally: Tally::default(),
        found,
    }
}

/// On stderr, and only where that is a terminal.
fn bar(len: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{wide_bar} {human_pos} of {human_len}, {eta} left");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(Some(len), ProgressDrawTarget::stderr()).with_style(style)
}

fn group(call: &Call) -> (OpKind, usize, String) {
    let bytes = call.element_bytes;
    let unit = if bytes == 1 { "byte" } else { "bytes" };
    (call.op.kind(), bytes, format!("{bytes} {unit}"))
}

fn label(call: &Call) -> String {
    format!(
        "{}: params {:?} of {} bytes each, indices {:?} {}, negative {}, out of bounds {}",
        call.op,
        call.params_layout.shape(),
        call.element_bytes,
        call.indices_layout.shape(),
        call.index_type.name(),
        call.rules.negative,
        call.rules.out_of_bounds
    )
}

fn as_text(chosen: &Chosen, pipelines: Option<usize>, checked: &Checked) -> String {
    let total = &checked.total;
    let mut text = format!("executor: {}\n", chosen.describe());
    if let Some(adapter) = chosen.adapter() {
        let (name, api, driver) = (&adapter.name, adapter.api, &adapter.driver);
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "adapter:  {name}\nAPI:      {api}\ndriver:   {driver}"
        );
    }
    if let Some(count) = pipelines {
        let _ = writeln!(text, "compiled: {count} pipelines, all there are");
    }
    let _ = writeln!(text, "checked:  {}\n", checked.what);
    for (label, difference) in &total.failed {
        let _ = writeln!(text, "FAILED {label}\n       {difference}");
    }
    if let Some(found) = &checked.found {
        text += "       the smallest call that was found:\n";
        text += &found.describe(chosen, "         ");
    }
    for (label, reason) in &total.skipped {
        let _ = writeln!(text, "skipped {label} ({reason})");
    }
    if !(total.failed.is_empty() && total.skipped.is_empty()) {
        text.push('\n');
    }
    if checked.tally.is_empty() {
        let _ = writeln!(text, "{total}");
    } else {
        let _ = writeln!(text, "{}\n{total}", checked.tally.table());
    }
    text
}

fn as_json(
    chosen: &Chosen,
    pipelines: Option<usize>,
    checked: &Checked,
    unreadable: &[anyhow::Error],
) -> Value {
    let total = &checked.total;
    let named = |pairs: &[(String, String)], what: &str| -> Value {
        let pair = |(label, text): &(String, String)| json!({ "case": label, what: text });
        pairs.iter().map(pair).collect()
    };
    let unreadable = unreadable.iter().map(|error| format!("{error:#}"));
    let adapter = chosen.adapter();
    json!({
        "executor": chosen.name(),
        "reason": chosen.reason,
        "adapter": adapter.map(|a| &a.name),
        "api": adapter.map(|a| a.api.to_str()),
        "driver": adapter.map(|a| &a.driver),
        "pipelines": pipelines,
        "checked": checked.what,
        "passed": total.passed,
        "failed": total.failed.len(),
        "skipped": total.skipped.len(),
        "failures": named(&total.failed, "difference"),
        "skips": named(&total.skipped, "reason"),
        "counts": checked.tally.json(),
        "counterexample": checked.found.as_ref().map(Found::json),
        "unreadable": unreadable.collect::<Vec<_>>(),
    })
}
