//! Bookkeeping of bad indices: the status that a call counts in, and its entry in the reports of the output.

use std::sync::Arc;

use crate::error::Result;
use crate::gpu::context::Context;
use crate::gpu::record::recording::{Level, Recording};
use crate::gpu::tensor::any::AnyDeviceTensor;
use crate::gpu::tensor::reports::Written;
use crate::gpu::tensor::status::{Counting, Status};
use crate::gpu::tensor::storage::Storage;
use crate::plan::Plan;

/// The lookups of a call, for its reports.
#[derive(Debug)]
pub(in crate::gpu) struct Lookups {
    /// Status that counts its bad indices, under rules that ask for an error.
    pub(in crate::gpu) counting: Option<Counting>,
    /// It reads at least one index.
    looks_up: bool,
    /// It overwrites the whole tensor, which makes earlier reports obsolete.
    replaces: bool,
}

impl Lookups {
    /// Of a call of `plan` that writes to a tensor.
    pub(in crate::gpu) fn new(
        context: &Arc<Context>,
        recording: &Recording,
        plan: Option<&Plan>,
        output: &AnyDeviceTensor,
        replaces: bool,
    ) -> Result<Self> {
        let plan = plan.filter(|plan| plan.looks_up());
        let counted = plan.filter(|plan| plan.reports_bad_indices());
        let (reports, here) = (output.storage().reports(), recording.counted());
        // When the caller submits is not known: what is there may stay.
        let replaces = replaces && recording.level() == Level::Engine;
        let counting = counted.map(|plan| match recording.level() {
            Level::Engine => reports.counting(context, here, plan, replaces),
            Level::Encoder => {
                let counting = reports.counting(context, here, plan, replaces)?;
                counting.status.leave(counting.is_new())?;
                Ok(counting)
            }
            Level::Binding => Ok(Status::shared(context, plan)?.afresh()),
        });
        Ok(Lookups {
            counting: counting.transpose()?,
            looks_up: plan.is_some(),
            replaces,
        })
    }

    pub(in crate::gpu) fn status(&self) -> Option<&Status> {
        self.counting.as_ref().map(|counting| &counting.status)
    }

    /// Notes that the call writes to a tensor what it makes of others.
    pub(in crate::gpu) fn note<'a>(
        &self,
        recording: &mut Recording,
        output: &AnyDeviceTensor,
        read: impl IntoIterator<Item = &'a Storage>,
    ) {
        let reports = read.into_iter().map(Storage::reports);
        let reported = recording.level() != Level::Binding;
        if self.looks_up && self.counting.is_none() {
            recording.note_uncounted();
        }
        let written = Written {
            inherited: reports
                .flat_map(|reports| reports.inheritable(recording.counted()))
                .collect(),
            counting: self.counting.as_ref().filter(|_| reported),
            looks_up: self.looks_up,
            replaces: self.replaces,
            left: recording.level() != Level::Engine,
        };
        recording.note(output.storage().reports(), written);
    }
}
