//! On the CPU path, against burn-flex and a copy.

use anyhow::Result;
use burn_flex::Flex;
use wgpu_gather::{BagMode, Bags, Executor, Op, Reduce, Rules, Tensor, TensorView};

use super::calls::Call;
use super::{Kind, Task};
use crate::line::OURS;
use crate::peers::Burn;

pub(crate) fn calls<'a>(task: &'a Task) -> Result<Vec<Call<'a>>> {
    let mut all = vec![ours(task)];
    if let Kind::Bags(_) = task.case.kind {
        all.push(gathered(task));
    }
    let flex = Burn::<Flex> {
        name: "burn-flex",
        device: Default::default(),
    };
    all.push(flex.fold(task)?);
    all.push(copy(task));
    Ok(all)
}

/// Ours alone, for the Python side.
pub(crate) fn ours(task: &Task) -> Call<'_> {
    let fold = move |set: usize| -> Result<Tensor<f32>> {
        let case = &task.case;
        let rows = TensorView::new(&[case.rows, case.columns], &task.rows)?;
        let shape = task.ids_shape();
        let ids = TensorView::new(&shape, &task.ids[set])?;
        let rules = Rules::default();
        Ok(match case.kind {
            // A copy, for comparison.
            Kind::ScatterAdd | Kind::AddInPlace => {
                let updates = TensorView::new(&[case.ids, case.columns], &task.updates)?;
                let add = Reduce::Add;
                Executor::Cpu
                    .scatter(Op::gather(0), add, &rules, &rows, &ids, &updates)
                    .wait()?
            }
            Kind::Bags(_) => {
                let sums = Bags::rows(BagMode::Sum);
                Executor::Cpu
                    .embedding_bag(sums, &rules, &rows, &ids)
                    .wait()?
            }
        })
    };
    let name = match task.case.kind {
        Kind::ScatterAdd => "Executor::scatter",
        Kind::AddInPlace => return in_place(task, call("Executor::scatter_into", fold)),
        Kind::Bags(_) => "Executor::embedding_bag",
    };
    call(name, fold)
}

/// `call` that adds to rows of its own.
fn in_place<'a>(task: &'a Task, call: Call<'a>) -> Call<'a> {
    let mut rows = task.rows.clone();
    let case = &task.case;
    let fold = move |set: usize| -> Result<()> {
        let ids = TensorView::new(&[case.ids], &task.ids[set])?;
        let updates = TensorView::new(&[case.ids, case.columns], &task.updates)?;
        let shape = [case.rows, case.columns];
        let (op, add, rules) = (Op::gather(0), Reduce::Add, Rules::default());
        Executor::Cpu
            .scatter_into(op, add, &rules, &shape, &mut rows, &ids, &updates)
            .wait()?;
        Ok(())
    };
    Call {
        fold: Box::new(fold),
        ..call
    }
}

/// All rows, and then their sums.
fn gathered(task: &Task) -> Call<'_> {
    let case = &task.case;
    let in_order: Vec<i32> = (0..case.ids as i32).collect();
    let fold = move |set: usize| -> Result<Tensor<f32>> {
        let rows = TensorView::new(&[case.rows, case.columns], &task.rows)?;
        let ids = TensorView::new(&[case.ids], &task.ids[set])?;
        let rules = Rules::default();
        let rows = Executor::Cpu
            .gather(Op::gather(0), &rules, &rows, &ids)
            .wait()?;
        let (shape, sums) = (task.ids_shape(), Bags::rows(BagMode::Sum));
        let ids = TensorView::new(&shape, &in_order)?;
        Ok(Executor::Cpu
            .embedding_bag(sums, &rules, &rows, &ids)
            .wait()?)
    };
    call("gather, then embedding_bag in order", fold)
}

fn call<'a>(
    name: &'static str,
    fold: impl Fn(usize) -> Result<Tensor<f32>> + Clone + 'a,
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
        bytes: Box::new(move |set| Ok(bytemuck::cast_slice(again(set)?.data()).to_vec())),
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
