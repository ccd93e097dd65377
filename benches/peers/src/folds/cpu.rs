//! On the CPU path, against burn-flex and a copy.

use anyhow::Result;
use burn_flex::Flex;
use wgpu_gather::{AnyTensor, BagMode, Bags, Executor, Indices, Op, Params, Rules};

use super::calls::Call;
use super::cases::Kind;
use super::task::{Memory, Task};
use crate::line::OURS;
use crate::peers::Burn;
use crate::task::SETS;

pub(crate) fn calls<'a>(task: &'a Task) -> Result<Vec<Call<'a>>> {
    let mut all = vec![ours(task)?];
    if task.case.is_plain() {
        let flex = Burn::<Flex> {
            name: "burn-flex",
            device: Default::default(),
        };
        all.push(flex.fold(task)?);
    }
    all.push(copy(task));
    Ok(all)
}

/// Ours alone, for the Python side.
pub(crate) fn ours(task: &Task) -> Result<Call<'_>> {
    let ids: Result<Vec<Indices<'_>>> = (0..SETS).map(|set| task.indices(set)).collect();
    let (case, ids) = (&task.case, ids?);
    let shape = [case.rows, case.columns];
    match case.kind {
        Kind::Bags { weighted, .. } => bags(task, ids, weighted),
        Kind::Scatter(reduce) => {
            let rows = task.params(task.rows.bytes(), &shape)?;
            let updates = updates(task)?;
            Ok(call("Executor::scatter", move |set| {
                let (op, rules) = (Op::gather(0), Rules::default());
                let ids = &ids[set];
                let call = Executor::Cpu.scatter(op, reduce, &rules, &rows, ids, &updates);
                Ok(call.wait()?)
            }))
        }
        Kind::Gradient => {
            let updates = updates(task)?;
            Ok(call("Executor::gather_gradient", move |set| {
                let (op, rules) = (Op::gather(0), Rules::default());
                let call = Executor::Cpu.gather_gradient(op, &rules, &shape, &ids[set], &updates);
                Ok(call.wait()?)
            }))
        }
        Kind::InPlace(reduce) => {
            let updates = updates(task)?;
            let fold = move |set: usize, rows: &mut [u8]| -> Result<()> {
                let (op, rules) = (Op::gather(0), Rules::default());
                let ids = &ids[set];
                let call =
                    Executor::Cpu.scatter_into(op, reduce, &rules, &shape, rows, ids, &updates);
                Ok(call.wait()?)
            };
            let (mut own, again) = (Memory::new(task.rows.bytes())?, fold.clone());
            Ok(Call {
                who: OURS,
                name: "Executor::scatter_into",
                fold: Box::new(move |set| fold(set, own.bytes_mut())),
                wait: Box::new(|| Ok(())),
                bytes: Box::new(move |set| {
                    let mut rows = Memory::new(task.rows.bytes())?;
                    again(set, rows.bytes_mut())?;
                    Ok(rows.bytes().to_vec())
                }),
            })
        }
    }
}

fn updates(task: &Task) -> Result<Params<'_>> {
    task.params(task.updates.bytes(), &[task.case.ids, task.case.columns])
}

fn bags<'a>(task: &'a Task, ids: Vec<Indices<'a>>, weighted: bool) -> Result<Call<'a>> {
    let quantized = task.quantized()?;
    let weights = match weighted {
        true => Some(task.params(task.weights.bytes(), &task.case.ids_shape())?),
        false => None,
    };
    Ok(call("Executor::embedding_bag", move |set| {
        let (table, sums) = (task.table(&quantized)?, Bags::rows(BagMode::Sum));
        let rules = Rules::default();
        let call = Executor::Cpu.embedding_bag(sums, &rules, &table, &ids[set]);
        Ok(match &weights {
            Some(weights) => call.weights(weights).wait()?,
            None => call.wait()?,
        })
    }))
}

fn call<'a>(
    name: &'static str,
    fold: impl Fn(usize) -> Result<AnyTensor> + Clone + 'a,
) -> Call<'a> {
    let again = fold.clone();
    Call {
        who: OURS,
        name,
        fold: Box::new(move |set| {
            std::hint::black_box(fold(set)?);
            Ok(())
        }),
        wait: Box::new(|| Ok(())),
        bytes: Box::new(move |set| Ok(again(set)?.into_bytes())),
    }
}

/// As many bytes as the fold has to read and write, half of them each.
fn copy(task: &Task) -> Call<'_> {
    let from = vec![1u8; task.bytes() as usize / 2];
    let mut to = vec![0u8; from.len()];
    Call {
        who: "copy",
        name: "copy_from_slice, one thread",
        fold: Box::new(move |_| {
            to.copy_from_slice(&from);
            std::hint::black_box(&mut to);
            Ok(())
        }),
        wait: Box::new(|| Ok(())),
        bytes: Box::new(|_| Ok(Vec::new())),
    }
}
