//! How many sectors of memory a wave asks for, against the bytes that it asks for.
//!
//! An access of a wave is what its invocations do when each is at one place in the shader for the n-th time.
//! Of each, distinct bytes and distinct sectors of 32 bytes count. These are requests: caches may answer
//! some of them.

use std::ops::{Add, AddAssign};

use crate::access::Access;
use crate::memory::BufferId;
use crate::recorder::Recorded;
use crate::site::Kind;

/// Bytes of a sector.
const SECTOR: u64 = 32;
/// The waves that are looked at.
pub(crate) const WAVES: [u32; 2] = [32, 64];

/// Bytes that waves ask for, and those of the sectors that these lie in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Sectors {
    pub(crate) asked: u64,
    pub(crate) sectors: u64,
}

impl Add for Sectors {
    type Output = Sectors;

    fn add(self, other: Sectors) -> Sectors {
        Sectors {
            asked: self.asked + other.asked,
            sectors: self.sectors + other.sectors,
        }
    }
}

impl AddAssign for Sectors {
    fn add_assign(&mut self, other: Sectors) {
        *self = *self + other;
    }
}

/// Those of the loads and of the stores of a dispatch, in waves of so many invocations. Atomic operations
/// are loads and stores.
pub(crate) fn sectors(recorded: &Recorded, wave: u32) -> [Sectors; 2] {
    let mut lanes = lanes(recorded, wave);
    lanes.sort_unstable();
    let mut all = [Sectors::default(); 2];
    for access in lanes.chunk_by(|a, b| a.access == b.access) {
        let found = of_access(access);
        if access[0].kind != Kind::Write {
            all[0] += found;
        }
        if access[0].kind != Kind::Read {
            all[1] += found;
        }
    }
    all
}

/// An invocation's part in an access of its wave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Lane {
    /// Wave, site, path, and for which time.
    access: (u32, usize, u32, u32),
    buffer: BufferId,
    start: u64,
    end: u64,
    kind: Kind,
}

fn lanes(recorded: &Recorded, wave: u32) -> Vec<Lane> {
    let workgroup = recorded.dispatch.workgroup;
    let mut records = recorded.records.clone();
    // Stable: those of an invocation at one place stay in order.
    let place = |record: &crate::trace::Record| (record.site(), record.path, record.invocation);
    records.sort_by_key(place);
    let mut lanes = Vec::with_capacity(records.len());
    for at_place in records.chunk_by(|a, b| place(a) == place(b)) {
        for (turn, &record) in (0..).zip(at_place) {
            let access = Access::new(&recorded.dispatch, record);
            let group = record.invocation / workgroup;
            let in_group = record.invocation % workgroup / wave;
            let number = group * workgroup.div_ceil(wave) + in_group;
            lanes.push(Lane {
                access: (number, record.site(), record.path, turn),
                buffer: access.bound.buffer,
                start: access.bytes.start,
                end: access.bytes.end,
                kind: access.site.kind,
            });
        }
    }
    lanes
}

/// Of the lanes of one access, by their places in memory.
fn of_access(lanes: &[Lane]) -> Sectors {
    let mut found = Sectors::default();
    let mut last: Option<(BufferId, u64, u64)> = None;
    for lane in lanes {
        let (end, end_sector) = match last {
            Some((buffer, end, sector)) if buffer == lane.buffer => (end, sector),
            _ => (0, 0),
        };
        let from = lane.start.max(end);
        found.asked += lane.end.saturating_sub(from);
        let (first, behind) = (lane.start / SECTOR, lane.end.div_ceil(SECTOR));
        found.sectors += behind.saturating_sub(first.max(end_sector)) * SECTOR;
        last = Some((lane.buffer, end.max(lane.end), end_sector.max(behind)));
    }
    found
}
