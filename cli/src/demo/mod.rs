//! `wgpu-gather demo`: what every verb does, and how long it takes on tensors of a usual size.

mod columns;
mod small;
mod timed;

use anyhow::Result;

use crate::answer::Answer;
use crate::args::DemoArgs;
use crate::backend::Chosen;

/// A part of the demo: what is shown, and whether it is as the reference has it.
pub(super) struct Part {
    pub(super) text: String,
    pub(super) right: bool,
}

/// Shows the verbs on small tensors, then times three of them on large ones.
pub(crate) fn run(args: &DemoArgs) -> Result<Answer> {
    let chosen = Chosen::new(&args.backend)?;
    let mut text = format!("Running on {}.\n{}", chosen.describe(), no_gpu(&chosen));
    let mut good = true;
    let small = small::parts(&chosen.executor)?;
    for part in small.into_iter().chain(timed::parts(&chosen)?) {
        text += &part.text;
        good &= part.right;
    }
    text += match good {
        true => "\nEqual to the reference, bit for bit.\n",
        false => "\nWRONG: the reference gives other bits.\n",
    };
    Ok(Answer::checked(text, good))
}

/// Says so where no GPU is used though one was wanted.
fn no_gpu(chosen: &Chosen) -> &'static str {
    match (chosen.adapter(), &chosen.reason) {
        (None, Some(_)) => "There is no GPU here that can be used, so the CPU path is.\n",
        _ => "",
    }
}
