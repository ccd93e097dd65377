//! A record with what it means.

use std::ops::Range;

use crate::recorder::{Bound, Dispatch};
use crate::site::{Kind, Site};
use crate::trace::Record;

/// One access of one invocation.
#[derive(Debug, Clone)]
pub(crate) struct Access<'a> {
    pub(crate) site: &'a Site,
    pub(crate) bound: &'a Bound,
    /// Bytes from the start of the buffer on.
    pub(crate) bytes: Range<u64>,
    pub(crate) record: Record,
}

impl<'a> Access<'a> {
    pub(crate) fn new(dispatch: &'a Dispatch, record: Record) -> Self {
        let site = &dispatch.shader.sites[record.site()];
        let bound = &dispatch.bindings[&site.binding];
        let of_binding = u64::from(record.index) * u64::from(site.stride) + u64::from(site.offset);
        let start = bound.offset + of_binding;
        Access {
            site,
            bound,
            bytes: start..start + u64::from(site.bytes),
            record,
        }
    }

    /// The words that it is in.
    pub(crate) fn words(&self) -> Range<u64> {
        self.bytes.start / 4..self.bytes.end.div_ceil(4)
    }

    /// Whether it may be a load whose value is not used: if it is used, the result is wrong.
    pub(crate) fn is_stand_in(&self) -> bool {
        self.site.kind == Kind::Read && !self.site.is_atomic && self.record.index == 0
    }

    /// Whether it lies in what is bound.
    pub(crate) fn is_bound(&self) -> bool {
        self.bytes.end <= self.bound.offset + self.bound.bytes
    }
}
