//! How many sectors of memory a wave asks for, against the bytes that it asks for.
//!
//! An access of a wave is what its invocations do when each is at one place in the shader for the n-th time.
//! Of each, distinct bytes and distinct sectors of 32 bytes count. These are requests: caches may answer
//! some of them.

use std::collections::BTreeMap;
use std::ops::{Add, AddAssign};

use crate::access::Access;
use crate::memory::BufferId;
use crate::recorder::Recorded;
use crate::site::Kind;
use crate::trace::Record;

/// Bytes of a sector.
pub(crate) const SECTOR: u64 = 32;
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

/// What a dispatch moved over a binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Moved {
    /// Distinct bytes that it touches.
    pub(crate) bytes: u64,
    /// Bytes of the sectors that waves of each kind asked for.
    pub(crate) sectors: [u64; WAVES.len()],
}

impl AddAssign for Moved {
    fn add_assign(&mut self, other: Moved) {
        self.bytes += other.bytes;
        let sectors = self.sectors.iter_mut().zip(other.sectors);
        sectors.for_each(|(to, from)| *to += from);
    }
}

/// Loads and stores over each binding, by the name that the shader has for it.
pub(crate) fn of_bindings(recorded: &Recorded) -> BTreeMap<String, [Moved; 2]> {
    let shader = &recorded.dispatch.shader;
    let name = |record: &Record| shader.variables[&shader.sites[record.site()].binding].clone();
    let mut all: BTreeMap<String, Vec<Record>> = BTreeMap::new();
    for &record in &recorded.records {
        all.entry(name(&record)).or_default().push(record);
    }
    let moved = |records: Vec<Record>| {
        let part = Recorded {
            records,
            ..recorded.clone()
        };
        let mut moved = [Moved::default(); 2];
        for (n, wave) in WAVES.into_iter().enumerate() {
            let of_wave = sectors(&part, wave);
            moved
                .iter_mut()
                .zip(of_wave)
                .for_each(|(to, s)| to.sectors[n] = s.sectors);
        }
        let distinct = |kind: Kind| {
            let accesses = part.records.iter().map(|&r| Access::new(&part.dispatch, r));
            let accesses = accesses.filter(|access| access.site.kind != kind);
            let mut ranges: Vec<_> = accesses.map(|a| (a.bytes.start, a.bytes.end)).collect();
            ranges.sort_unstable();
            let mut end = 0;
            let mut new = |(from, to): (u64, u64)| {
                let bytes = to.saturating_sub(from.max(end));
                end = end.max(to);
                bytes
            };
            ranges.into_iter().map(&mut new).sum()
        };
        moved[0].bytes = distinct(Kind::Write);
        moved[1].bytes = distinct(Kind::Read);
        moved
    };
    all.into_iter()
        .map(|(name, records)| (name, moved(records)))
        .collect()
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
    let workgroup = recorded.dispatch.workgroup.invocations;
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
