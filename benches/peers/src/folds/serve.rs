//! The folds of the CPU path for the Python side, on the lines of `crate::serve`.

use std::fs;

use anyhow::{Context, Result, bail};
use serde_json::json;

use super::{Kind, Task, cases, cpu};
use crate::gather::Gather;
use crate::line::{OURS, Run};
use crate::run::versions_of;
use crate::serve::{Request, answer, next, time_on_request};
use crate::task::SETS;

/// Answers until the other side has heard enough. The tensors go into `folder`.
pub(crate) fn serve(folder: &std::path::Path, words: &[String]) -> Result<()> {
    let cases = cases(words);
    let names: Vec<String> = cases.iter().map(super::Case::name).collect();
    answer(&json!({ "run": Run::new("cpu", versions_of(&[OURS])), "cases": names }))?;
    let mut asked = next()?;
    while let Some(request) = asked {
        let Request::Case(number) = request else {
            bail!("no case was asked for");
        };
        let case = cases
            .get(number)
            .with_context(|| format!("no case {number}"))?;
        let task = Task::new(*case)?;
        let mut ours: Vec<Box<dyn Gather + '_>> = vec![Box::new(cpu::ours(&task)?)];
        let write = |name: String, bytes: &[u8]| fs::write(folder.join(name), bytes);
        write("rows".into(), task.rows.bytes())?;
        write("updates".into(), task.updates.bytes())?;
        write("weights".into(), task.weights.bytes())?;
        for (n, set) in task.ids.iter().enumerate() {
            write(format!("ids-{n}"), bytemuck::cast_slice(set))?;
        }
        write("output".into(), &ours[0].bytes(SETS - 1)?)?;
        let (verb, reduce) = match case.kind {
            Kind::Scatter(reduce) => ("scatter", Some(reduce.name())),
            Kind::InPlace(reduce) => ("in place", Some(reduce.name())),
            Kind::Gradient => ("gradient", None),
            Kind::Bags { .. } => ("bags", None),
        };
        answer(&json!({
            "case": {
                "case": case.name(), "verb": verb, "reduce": reduce, "stored": case.stored.name(),
                "dtype": case.stored.dtype().name(), "rows": case.rows, "columns": case.columns,
                "ids_shape": case.ids_shape(), "weighted": !task.weights.bytes().is_empty(),
            },
            "sets": SETS,
            "ours": { ours[0].output().name(): ours[0].call() },
        }))?;
        asked = time_on_request(&mut ours)?;
    }
    Ok(())
}
