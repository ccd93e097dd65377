//! `wgpu-gather verify`: is this executor right, bit for bit?

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressDrawTarget};
use serde_json::{Value, json};
use wgpu_gather::OpKind;
use wgpu_gather::verify::{Call, Case, Report, Values, builtin, check_call, read_cases, run_case};

use crate::answer::Answer;
use crate::args::VerifyArgs;
use crate::backend::Chosen;
use crate::rules;
use crate::tally::Tally;

/// Runs the built-in calls, or the cases of the given files.
pub(crate) fn run(args: &VerifyArgs) -> Result<Answer> {
    let files = args.cases.iter().map(|path| read(path));
    let files = files.collect::<Result<Vec<_>>>()?;
    let chosen = Chosen::new(&args.backend)?;
    let (checked, tally) = if files.is_empty() {
        check_builtin(&chosen)
    } else {
        check_files(&files, &args.cases, &chosen)
    };
    let total = tally.total();
    let good = total.failed.is_empty();
    Ok(match args.json {
        true => Answer::json(&as_json(&chosen, &checked, &tally, &total), good),
        false => Answer::checked(as_text(&chosen, &checked, &tally, &total), good),
    })
}

fn read(path: &Path) -> Result<Vec<Case>> {
    let named = || format!("cases {}", path.display());
    let text = fs::read_to_string(path).with_context(named)?;
    read_cases(&text).with_context(named)
}

/// What was checked, in words, and the outcomes.
type Checked = (String, Tally);

fn check_builtin(chosen: &Chosen) -> Checked {
    let calls = builtin();
    let bar = bar(calls.len());
    let mut tally = Tally::default();
    for call in &calls {
        let outcome = pollster::block_on(check_call(call, &chosen.executor));
        tally.add(group(call), || label(call), outcome);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let checked = format!("{} built-in calls, against the reference", calls.len());
    (checked, tally)
}

fn check_files(files: &[Vec<Case>], paths: &[PathBuf], chosen: &Chosen) -> Checked {
    let cases: Vec<&Case> = files.iter().flatten().collect();
    let bar = bar(cases.len());
    let mut tally = Tally::default();
    for case in &cases {
        let outcome = pollster::block_on(run_case(case, &chosen.executor));
        tally.add(case_group(case), || case_label(case), outcome);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let paths: Vec<String> = paths.iter().map(|p| p.display().to_string()).collect();
    let checked = format!("{} recorded cases of {}", cases.len(), paths.join(", "));
    (checked, tally)
}

/// On stderr, and only where that is a terminal.
fn bar(len: usize) -> ProgressBar {
    ProgressBar::with_draw_target(Some(len as u64), ProgressDrawTarget::stderr())
}

fn group(call: &Call) -> (OpKind, usize, String) {
    let bytes = call.element_bytes;
    let unit = if bytes == 1 { "byte" } else { "bytes" };
    (call.op.kind(), bytes, format!("{bytes} {unit}"))
}

fn case_group(case: &Case) -> (OpKind, usize, String) {
    let bytes = match &case.params.values {
        Values::Bytes(dtype, _) => dtype.bytes(),
        Values::Strings(_) => 0,
    };
    (case.op.kind(), bytes, case.params.type_name().to_owned())
}

fn label(call: &Call) -> String {
    format!(
        "{:?}: params {:?} of {} bytes each, indices {:?} {}, negative {}, out of bounds {}",
        call.op,
        call.params_layout.shape(),
        call.element_bytes,
        call.indices_layout.shape(),
        call.index_type.name(),
        rules::negative_text(&call.rules),
        rules::out_of_bounds_text(&call.rules)
    )
}

fn case_label(case: &Case) -> String {
    format!("{}: {}", case.suite, case.name)
}

fn as_text(chosen: &Chosen, checked: &str, tally: &Tally, total: &Report) -> String {
    let mut text = format!("executor: {}\n", chosen.describe());
    if let Some(adapter) = chosen.adapter() {
        let (name, api, driver) = (&adapter.name, &adapter.api, &adapter.driver);
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "adapter:  {name}\nAPI:      {api}\ndriver:   {driver}"
        );
    }
    let _ = writeln!(text, "checked:  {checked}\n");
    for (label, difference) in &total.failed {
        let _ = writeln!(text, "FAILED {label}\n       {difference}");
    }
    for (label, reason) in &total.skipped {
        let _ = writeln!(text, "skipped {label} ({reason})");
    }
    if !(total.failed.is_empty() && total.skipped.is_empty()) {
        text.push('\n');
    }
    text += &tally.table();
    let _ = writeln!(text, "\n{total}");
    text
}

fn as_json(chosen: &Chosen, checked: &str, tally: &Tally, total: &Report) -> Value {
    let named = |pairs: &[(String, String)], what: &str| -> Value {
        let pair = |(label, text): &(String, String)| json!({ "case": label, what: text });
        pairs.iter().map(pair).collect()
    };
    let adapter = chosen.adapter();
    json!({
        "executor": chosen.name(),
        "reason": chosen.reason,
        "adapter": adapter.map(|a| &a.name),
        "api": adapter.map(|a| &a.api),
        "driver": adapter.map(|a| &a.driver),
        "checked": checked,
        "passed": total.passed,
        "failed": total.failed.len(),
        "skipped": total.skipped.len(),
        "failures": named(&total.failed, "difference"),
        "skips": named(&total.skipped, "reason"),
        "counts": tally.json(),
    })
}
