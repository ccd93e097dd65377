//! What a dispatch must not do: leave its memory, race with itself, go on for too long.

use std::collections::{BTreeMap, HashSet};

use wgpu_gather::gpu::internals::max_loop_steps;

use crate::access::Access;
use crate::memory::BufferId;
use crate::recorder::Recorded;
use crate::site::Kind;

/// The most steps of an invocation, in all its loops; to find that a loop ends is a step, too.
pub(crate) const MOST_STEPS: u32 = max_loop_steps();

/// What is wrong with a dispatch, each thing once.
pub(crate) fn complaints(recorded: &Recorded) -> Vec<String> {
    let dispatch = &recorded.dispatch;
    let accesses: Vec<Access<'_>> = recorded
        .records
        .iter()
        .map(|&record| Access::new(dispatch, record))
        .collect();
    let mut found = outside(&accesses);
    found.extend(races(&accesses, dispatch.workgroup.invocations));
    if let Some(steps) = recorded
        .most
        .map(|most| most.steps)
        .filter(|&steps| steps > MOST_STEPS)
    {
        found.push(format!("{steps} steps of an invocation's loops"));
    }
    let mut once = BTreeMap::new();
    for text in found {
        *once.entry(text).or_insert(0u32) += 1;
    }
    let counted = once.into_iter();
    let named = |(text, n): (String, u32)| format!("{}: {text} ({n} times)", dispatch.pipeline);
    counted.map(named).collect()
}

/// Accesses outside the memory of the call. Where a bad index selects nothing, shaders load the first of what
/// is bound and do not use it (`fetch` in shaders/copy.wgsl). The other bytes of a word at its edge may be read; they may be
/// written by who has read the word before, and by atomic operations.
fn outside(accesses: &[Access<'_>]) -> Vec<String> {
    let mut read = HashSet::new();
    let mut found = Vec::new();
    for access in accesses {
        let word = (
            access.bound.buffer,
            access.bytes.start,
            access.record.invocation,
        );
        if access.site.kind == Kind::Read {
            read.insert(word);
        }
        let Some(memory) = &access.bound.memory else {
            found.push(format!("{} of unknown memory", access.site));
            continue;
        };
        let keeps = match access.site.kind {
            Kind::Read => true,
            Kind::Write => read.contains(&word),
            Kind::Both => true,
        };
        let inside = memory.holds(&access.bytes) || keeps && memory.holds_words(&access.bytes);
        if !(inside || access.is_stand_in()) || !access.is_bound() {
            found.push(format!("{} outside the call's memory", access.site));
        }
    }
    found
}

/// An access of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Touch {
    word: (BufferId, u64),
    invocation: u32,
    epoch: u32,
    writes: bool,
    is_atomic: bool,
    is_flag: bool,
    site: usize,
}

/// Words that one invocation writes and another reads or writes, without a barrier between.
fn races(accesses: &[Access<'_>], workgroup: u32) -> Vec<String> {
    let written: HashSet<(BufferId, u64)> = accesses
        .iter()
        .filter(|access| access.site.writes())
        .flat_map(|access| access.words().map(|word| (access.bound.buffer, word)))
        .collect();
    let mut touches: Vec<Touch> = Vec::new();
    for access in accesses {
        let words = access.words().map(|word| (access.bound.buffer, word));
        let memory = access.bound.memory.as_ref();
        let touch = |word| Touch {
            word,
            invocation: access.record.invocation,
            epoch: access.record.epoch,
            writes: access.site.writes(),
            is_atomic: access.site.is_atomic,
            is_flag: memory.is_some_and(|memory| memory.is_flag(&access.bytes)),
            site: access.record.site(),
        };
        touches.extend(words.filter(|word| written.contains(word)).map(touch));
    }
    touches.sort_unstable();
    touches.dedup();
    let mut found = Vec::new();
    for of_word in touches.chunk_by(|a, b| a.word == b.word) {
        if let Some((a, b)) = race(of_word, workgroup) {
            found.push(race_text(accesses, a, b));
        }
    }
    found
}

/// Two of the accesses to a word that race.
fn race(touches: &[Touch], workgroup: u32) -> Option<(Touch, Touch)> {
    let plain = touches.iter().any(|touch| !touch.is_atomic);
    let one = touches
        .iter()
        .all(|t| t.invocation == touches[0].invocation);
    if !plain || one {
        return None;
    }
    let writes = touches.iter().filter(|touch| touch.writes);
    let mut pairs = writes.flat_map(|&a| touches.iter().map(move |&b| (a, b)));
    pairs.find(|(a, b)| {
        let group = |touch: &Touch| touch.invocation / workgroup;
        let fine = [
            a.invocation == b.invocation,
            group(a) == group(b) && a.epoch != b.epoch,
            a.is_atomic && b.is_atomic,
            // They write the same.
            a.is_flag && b.is_flag && b.writes,
        ];
        !fine.contains(&true)
    })
}

fn race_text(accesses: &[Access<'_>], a: Touch, b: Touch) -> String {
    let site = |touch: Touch| {
        let mut all = accesses.iter();
        all.find(|access| access.record.site() == touch.site)
            .map(|access| access.site.to_string())
            .unwrap_or_default()
    };
    let verb = if b.writes {
        "two invocations write a word"
    } else {
        "one invocation writes what another reads"
    };
    format!("{verb}: {}, {}", site(a), site(b))
}
