//! What tensors report of bad indices, in the model: statuses that count, and the lists of them that
//! storages have.

use wgpu_gather::BadIndices;

/// Where calls on one storage count.
#[derive(Debug, Clone, Default)]
struct Status {
    /// Calls that were recorded, those of them that were submitted or given up, and those that somebody
    /// has asked about.
    recorded: u64,
    settled: u64,
    read: u64,
    is_begun: bool,
    /// Whether calls count in it that the program submits, at any time.
    is_left: bool,
    found: Option<BadIndices>,
}

/// The reports of a storage: numbers of statuses.
#[derive(Debug, Clone, Default)]
pub(super) struct Reports {
    inherited: Vec<usize>,
    own: Vec<usize>,
    is_uncounted: bool,
    /// Whether calls write to the storage that the program submits, at any time: then none replaces what
    /// others have said.
    is_left: bool,
}

/// Every status that there was.
#[derive(Debug, Clone, Default)]
pub(super) struct Statuses(Vec<Status>);

/// What a call does to the reports of what it writes to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Written {
    /// Whether it counts bad indices.
    pub(super) counts: bool,
    /// Whether it looks up indices.
    pub(super) looks_up: bool,
    /// Whether it writes all of the storage.
    pub(super) replaces: bool,
    /// Whether it waits for a batch.
    pub(super) in_batch: bool,
    /// Whether the program submits it.
    pub(super) is_left: bool,
}

impl Statuses {
    fn is_clean(&self, status: usize) -> bool {
        let status = &self.0[status];
        status.found.is_none() && status.read == status.recorded && !status.is_left
    }

    /// Those that may have something to report.
    pub(super) fn pending(&self, reports: &Reports) -> Vec<usize> {
        let all = reports.inherited.iter().chain(&reports.own);
        all.copied()
            .filter(|&status| !self.is_clean(status))
            .collect()
    }

    /// Those that a call hands on to what it makes. What a batch counts is told to the batch alone,
    /// before it is submitted.
    pub(super) fn inheritable(&self, reports: &Reports, in_batch: bool) -> Vec<usize> {
        let mut pending = self.pending(reports);
        pending.retain(|&status| in_batch || self.0[status].is_begun);
        pending
    }

    /// Notes a call that writes to a storage what it made of others with these pending; says where it
    /// counts.
    pub(super) fn note(
        &mut self,
        reports: &mut Reports,
        read: Vec<usize>,
        written: Written,
    ) -> Option<usize> {
        if written.replaces && !reports.is_left {
            *reports = Reports::default();
        }
        reports.is_left |= written.is_left;
        reports.is_uncounted |= written.looks_up && !written.counts;
        reports.inherited.retain(|&status| !self.is_clean(status));
        for status in read {
            if !reports.inherited.contains(&status) && !reports.own.contains(&status) {
                reports.inherited.push(status);
            }
        }
        if !written.counts {
            return None;
        }
        let own = reports.own.last();
        if !own.is_some_and(|&own| written.in_batch || self.0[own].is_begun) {
            self.0.push(Status::default());
            reports.own.push(self.0.len() - 1);
        }
        let status = reports.own[reports.own.len() - 1];
        self.0[status].recorded += 1;
        Some(status)
    }

    /// A call that counts there is left to the program.
    pub(super) fn leave(&mut self, status: usize) {
        let status = &mut self.0[status];
        status.settled += 1;
        (status.is_begun, status.is_left) = (true, true);
    }

    /// The device has executed a call that counts there.
    pub(super) fn count(&mut self, status: usize, bad: Option<BadIndices>) {
        self.0[status].settled += 1;
        self.0[status].is_begun = true;
        self.find(status, bad);
    }

    /// Bad indices that a call has met which counts there.
    pub(super) fn find(&mut self, status: usize, bad: Option<BadIndices>) {
        let status = &mut self.0[status];
        status.found = match (status.found.take(), bad) {
            (Some(first), Some(more)) => Some(BadIndices {
                count: first.count + more.count,
                ..first
            }),
            (first, more) => first.or(more),
        };
    }

    /// A call that counts there was given up.
    pub(super) fn give_up(&mut self, status: usize) {
        self.0[status].settled += 1;
    }

    /// Takes all that a storage has to report.
    pub(super) fn take(&mut self, reports: &Reports) -> Option<BadIndices> {
        let pending = self.pending(reports);
        let mut told: Option<BadIndices> = None;
        for status in pending {
            let status = &mut self.0[status];
            status.read = status.settled;
            let found = status.found.take();
            told = match (told, found) {
                (Some(first), Some(more)) => Some(BadIndices {
                    count: first.count + more.count,
                    ..first
                }),
                (first, more) => first.or(more),
            };
        }
        told
    }
}

impl Reports {
    pub(super) fn is_uncounted(&self) -> bool {
        self.is_uncounted
    }
}
