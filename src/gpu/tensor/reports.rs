//! Unread reports of bad indices, for each storage.
//!
//! All views of a storage share its reports, which last as long as the data. Calls that write to one storage count
//! in one status; a full status is followed by a new one. An output inherits the reports of the tensors that its
//! call read.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::{BadIndices, Error, Result};
use crate::gpu::context::Context;
use crate::gpu::device::turns::Failure;
use crate::gpu::tensor::status::{Counting, Status};
use crate::plan::Plan;
use crate::waiting::PollMode;

/// The reports of a storage.
#[derive(Debug, Default)]
pub(in crate::gpu) struct Reports {
    lists: Mutex<Lists>,
    /// Why a call that was to write to it was not executed.
    failure: Arc<Failure>,
}

#[derive(Debug, Default)]
struct Lists {
    /// Statuses inherited from the tensors that were read, oldest first.
    inherited: Vec<Status>,
    /// Statuses of calls that wrote to this storage. Further calls count in the last one.
    own: Vec<Status>,
    /// A call that counts no bad indices wrote to the storage.
    uncounted: bool,
    /// Calls that write to the storage are submitted by the caller, at any time: their statuses may change later.
    left: bool,
}

/// How a call changes the reports of the storage that it writes to.
#[derive(Debug)]
pub(in crate::gpu) struct Written<'a> {
    /// Reports of what it read.
    pub(in crate::gpu) inherited: Vec<Status>,
    pub(in crate::gpu) counting: Option<&'a Counting>,
    /// The call looked up indices.
    pub(in crate::gpu) looks_up: bool,
    /// It overwrites the whole storage, which makes earlier reports obsolete.
    pub(in crate::gpu) replaces: bool,
    /// The caller submits it.
    pub(in crate::gpu) left: bool,
}

/// Restores the reports as they were before a call.
#[derive(Debug)]
pub(in crate::gpu) struct Undo {
    inherited: Vec<Status>,
    own: Option<Status>,
    replaced: Option<Replaced>,
    uncounted: bool,
    /// The call was the first that the caller submits.
    left: bool,
}

/// Reports about data that a call overwrites, kept for [`Undo`].
#[derive(Debug)]
struct Replaced {
    lists: Option<Lists>,
    failure: Option<Error>,
}

impl Reports {
    /// Statuses that may have bad indices to report, oldest first.
    pub(in crate::gpu) fn pending(&self) -> Vec<Status> {
        let lists = self.lock();
        let all = lists.inherited.iter().chain(&lists.own);
        all.filter(|status| !status.is_clean()).cloned().collect()
    }

    /// Statuses that the outputs of a recording inherit, if its calls count in `counted`. Excludes statuses of other
    /// recordings, which may be submitted later or never.
    pub(in crate::gpu) fn inheritable(&self, counted: &[Status]) -> Vec<Status> {
        let mut pending = self.pending();
        pending.retain(|status| status.is_begun() || counted.contains(status));
        pending
    }

    /// The status in which a call of `plan` on this storage counts, in a recording whose calls count in `counted`.
    pub(in crate::gpu) fn counting(
        &self,
        context: &Arc<Context>,
        counted: &[Status],
        plan: &Plan,
        replaces: bool,
    ) -> Result<Counting> {
        let lists = self.lock();
        let own = match replaces && !lists.left {
            true => None,
            false => lists.own.last().cloned(),
        };
        drop(lists);
        // The first call of a status clears it: no other may come before.
        let own = own.filter(|own| own.is_begun() || counted.contains(own));
        match own.and_then(|own| own.going_on(plan)) {
            Some(counting) => Ok(counting),
            None => Ok(Status::new(context, plan)?.afresh()),
        }
    }

    /// Notes a call that writes to the storage.
    pub(in crate::gpu) fn note(&self, written: Written<'_>) -> Undo {
        let mut lists = self.lock();
        let replaced = written.replaces.then(|| {
            let failure = self.failure.get();
            self.failure.set(None);
            let lists = (!lists.left).then(|| std::mem::take(&mut *lists));
            Replaced { lists, failure }
        });
        let uncounted = lists.uncounted;
        let left = written.left && !lists.left;
        lists.left |= written.left;
        lists.uncounted |= written.looks_up && written.counting.is_none();
        let is_known = |lists: &Lists, status: &Status| {
            lists.inherited.contains(status) || lists.own.contains(status)
        };
        // A tensor may be read twice: as params and as indices.
        let mut inherited: Vec<Status> = Vec::new();
        for status in written.inherited {
            if !is_known(&lists, &status) && !inherited.contains(&status) {
                inherited.push(status);
            }
        }
        // Those that were read and had nothing to report are not kept.
        let gone: Vec<Status> = lists
            .inherited
            .extract_if(.., |status| status.is_clean())
            .collect();
        lists.inherited.extend(inherited.iter().cloned());
        let own = written.counting.filter(|counting| counting.is_new());
        let own = own.map(|counting| counting.status.clone());
        lists.own.extend(own.clone());
        drop(lists);
        // Not under the lock: the last owner of a buffer may submit what waits.
        drop(gone);
        Undo {
            inherited,
            own,
            replaced,
            uncounted,
            left,
        }
    }

    /// Takes back what [`Reports::note`] did.
    pub(in crate::gpu) fn undo(&self, undo: Undo) {
        let mut lists = self.lock();
        let added = |status: &Status| undo.inherited.contains(status);
        let mut gone: Vec<Status> = lists.inherited.extract_if(.., |s| added(s)).collect();
        gone.extend(lists.own.extract_if(.., |s| undo.own.as_ref() == Some(s)));
        lists.uncounted = undo.uncounted;
        lists.left &= !undo.left;
        if let Some(replaced) = undo.replaced {
            self.failure.set(replaced.failure);
            if let Some(before) = replaced.lists {
                let after = std::mem::replace(&mut *lists, before);
                lists.inherited.extend(after.inherited);
                lists.own.extend(after.own);
                lists.left |= after.left;
            }
        }
        drop(lists);
        drop(gone);
    }

    /// Who is to know if a call that writes to the storage is not executed.
    pub(in crate::gpu) fn failure(&self) -> &Arc<Failure> {
        &self.failure
    }

    /// Fails if the data was never written.
    pub(in crate::gpu) fn check_written(&self) -> Result<()> {
        self.failure.get().map_or(Ok(()), Err)
    }

    /// Takes all reports: the first bad index, and how many there are in all.
    pub(in crate::gpu) async fn take(
        &self,
        context: &Context,
        poll_mode: PollMode,
    ) -> Result<Option<BadIndices>> {
        let pending = self.pending();
        let asked: Vec<Status> = pending.iter().filter(|s| s.has_news()).cloned().collect();
        let settled: Vec<u64> = asked.iter().map(Status::settled).collect();
        let words = words_of(context, &asked, poll_mode).await?;
        for ((status, words), settled) in asked.iter().zip(words).zip(settled) {
            status.look(&words, settled, poll_mode).await?;
        }
        let found = pending.iter().filter_map(Status::tell);
        Ok(found.reduce(|first, more| BadIndices {
            count: first.count.saturating_add(more.count),
            ..first
        }))
    }

    /// Whether calls that count no bad indices wrote to it.
    pub(in crate::gpu) fn is_uncounted(&self) -> bool {
        self.lock().uncounted
    }

    fn lock(&self) -> MutexGuard<'_, Lists> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The words of statuses, by one reading for all of them.
async fn words_of(
    context: &Context,
    statuses: &[Status],
    poll_mode: PollMode,
) -> Result<Vec<Vec<u32>>> {
    match statuses {
        [] => return Ok(Vec::new()),
        [status] => return Ok(vec![status.words(poll_mode).await?]),
        _ => {}
    }
    let sizes: Vec<usize> = statuses.iter().map(Status::bytes).collect();
    let mut words = vec![0u32; sizes.iter().sum::<usize>() / 4];
    let all = context.acquire("reports", 4 * words.len() as u64)?;
    let mut at = 0;
    let copies = statuses.iter().zip(&sizes).map(|(status, size)| {
        let to = at;
        at += *size as u64;
        status.copy_to(all.buffer(), to)
    });
    context.submit_all("statuses", &copies.collect::<Vec<_>>())?;
    context
        .read_words(all.buffer(), &mut words, poll_mode)
        .await?;
    let mut rest = &words[..];
    let each = sizes.iter().map(|size| {
        let (words, behind) = rest.split_at(size / 4);
        rest = behind;
        words.to_vec()
    });
    Ok(each.collect())
}
