//! Lookups of bags that follow each other: what they find, a window of them at a time.

use std::iter::zip;
use std::ops::Range;

use super::super::lookups::{BAD, Lookups};
use super::super::rows::forward;
use super::super::vectors::vectorized;
use super::rows::NOWHERE;
use super::table::Table;
use crate::index::{Bits, Word, with_index_type};
use crate::operand::Params;
use crate::plan::BagPlan;
use crate::shape::Layout;

/// The most bags in a window.
const MOST_BAGS: usize = 1024;

/// All that the windows of a call are made of.
pub(super) struct Source<'a> {
    pub(super) plan: &'a BagPlan,
    /// Of row numbers.
    pub(super) lookups: Lookups<'a>,
    pub(super) table: Table<'a>,
    pub(super) weights: Option<Weights<'a>>,
}

/// A weight for each lookup.
pub(super) struct Weights<'a> {
    bytes: &'a [u8],
    /// Bytes of one.
    width: usize,
    layout: &'a Layout,
    /// Whether they lie one after the other.
    are_contiguous: bool,
}

/// A window of the lookups of some bags.
pub(super) struct Window<'a> {
    source: &'a Source<'a>,
    /// The bags from the first one here on.
    bags: Range<usize>,
    /// The next lookup.
    next: usize,
    /// The most lookups.
    most: usize,
    /// The row of each lookup, of the padding as well.
    rows: Vec<usize>,
    /// Of each lookup but those of the padding: where its row starts in the table, by [`Table::start`], or
    /// [`NOWHERE`].
    pub(super) starts: Vec<usize>,
    /// Their weights.
    pub(super) weights: Vec<u8>,
    /// Where each bag ends among them.
    pub(super) ends: Vec<usize>,
    /// How many rows of the first bag were in windows before.
    pub(super) before: usize,
    /// Whether the last bag goes on after the window.
    pub(super) goes_on: bool,
}

impl<'a> Window<'a> {
    /// The empty window before `bags`, at least one. Those after it have up to `most` lookups.
    pub(super) fn before(source: &'a Source<'a>, bags: Range<usize>, most: usize) -> Self {
        let weight_bytes = source.weights.as_ref().map_or(0, |weights| weights.width);
        let of = |bag| source.plan.ranges.of(bag);
        let lookups = of(bags.start).start..of(bags.end - 1).end;
        let room = most.min(lookups.len());
        Window {
            source,
            next: lookups.start,
            most,
            rows: Vec::new(),
            starts: Vec::with_capacity(room),
            weights: Vec::with_capacity(room * weight_bytes),
            ends: Vec::with_capacity(MOST_BAGS.min(bags.len())),
            bags,
            before: 0,
            goes_on: false,
        }
    }

    /// The first bag of the window; nothing after the last.
    pub(super) fn first_bag(&self) -> Option<usize> {
        (!self.bags.is_empty()).then_some(self.bags.start)
    }

    /// Goes on to the next window.
    pub(super) fn advance(&mut self) {
        let rows_of_last = match self.ends[..] {
            [.., before, last] => last - before,
            [only] => self.before + only,
            [] => 0,
        };
        self.before = if self.goes_on { rows_of_last } else { 0 };
        self.bags.start += self.ends.len() - usize::from(self.goes_on);
        self.goes_on = false;
        self.weights.clear();
        self.ends.clear();
        if self.bags.is_empty() {
            return;
        }
        let ranges = &self.source.plan.ranges;
        let end = ranges.of(self.bags.end - 1).end;
        let lookups = self.next..end.min(self.next + self.most);
        self.rows.clear();
        let are_plain = self.find_plain(lookups.clone());
        if !are_plain {
            self.starts.clear();
            self.rows.resize(lookups.len(), BAD);
            self.source.lookups.find_from(lookups.start, &mut self.rows);
        }
        for bag in self.bags.clone().take(MOST_BAGS) {
            let of_bag = ranges.of(bag);
            self.goes_on = of_bag.end > lookups.end;
            let here = of_bag.start.max(lookups.start)..of_bag.end.min(lookups.end);
            self.next = here.end;
            if are_plain {
                self.ends.push(here.end - lookups.start);
            } else {
                self.take(here, lookups.start);
                self.ends.push(self.starts.len());
            }
            if self.goes_on {
                break;
            }
        }
        if are_plain {
            self.starts.truncate(self.next - lookups.start);
            if let Some(weights) = &self.source.weights {
                weights.extend(&mut self.weights, lookups.start..self.next);
            }
        }
    }

    /// Finds where the rows of all these lookups start, if each index is a row under all rules and none is padding;
    /// else returns false.
    fn find_plain(&mut self, lookups: Range<usize>) -> bool {
        let Source {
            plan,
            table,
            lookups: rows,
            ..
        } = self.source;
        let Some((indices, bound)) = rows.that_are_starts().filter(|_| plan.padding.is_none())
        else {
            return false;
        };
        let (first, step) = table.starts(bound);
        with_index_type!(rows.index_type(), I => {
            let bytes = size_of::<I>();
            let indices = &indices[lookups.start * bytes..lookups.end * bytes];
            self.starts.resize(lookups.len(), 0);
            find_each::<<I as Word>::Bits>(indices, bound, first, step, &mut self.starts)
        })
    }

    /// Whether some index of the window is bad.
    pub(super) fn has_bad(&self) -> bool {
        self.rows.contains(&BAD)
    }

    /// Takes these lookups, but for those of the padding; `first` is the first of the window.
    fn take(&mut self, lookups: Range<usize>, first: usize) {
        let source = self.source;
        let rows = &self.rows[lookups.start - first..lookups.end - first];
        let start = |&row: &usize| match row {
            BAD => NOWHERE,
            row => source.table.start(row),
        };
        let Some(padding) = source.plan.padding else {
            self.starts.extend(rows.iter().map(start));
            if let Some(weights) = &source.weights {
                weights.extend(&mut self.weights, lookups);
            }
            return;
        };
        for (lookup, row) in lookups.zip(rows) {
            if *row != padding {
                self.starts.push(start(row));
                if let Some(weights) = &source.weights {
                    weights.extend(&mut self.weights, lookup..lookup + 1);
                }
            }
        }
    }
}

vectorized! {
    /// Finds where rows start, `first` and so many steps from there; returns whether all indices are below `bound`, else
    /// what was found is of no use.
    [Avx512] fn find_each<W: Bits>(
        _f16c; indices: &[u8], bound: u64, first: usize, step: isize, starts: &mut [usize],
    ) -> bool {
        let each = zip(starts, indices.chunks_exact(size_of::<W>()));
        let index = |bytes: &[u8]| -> u64 { bytemuck::pod_read_unaligned::<W>(bytes).into() };
        let mut all = true;
        if let (Ok(bound), Ok(step)) = (u32::try_from(bound), u32::try_from(step)) {
            // Compilers find several products of 32 bits at once, where they do not for those of 64. An index that is
            // not below the bound may lead anywhere.
            for (start, bytes) in each {
                let index = index(bytes);
                all &= index < bound.into();
                *start = first.wrapping_add((u64::from(index as u32) * u64::from(step)) as usize);
            }
        } else {
            for (start, bytes) in each {
                let index = index(bytes);
                all &= index < bound;
                *start = forward(first, index as isize, step);
            }
        }
        all
    }
}

impl<'a> Weights<'a> {
    /// The weights in `tensor`, which lie there by `layout`.
    pub(super) fn new(tensor: &'a Params<'_>, layout: &'a Layout) -> Self {
        Weights {
            bytes: tensor.bytes(),
            width: tensor.element_bytes(),
            layout,
            are_contiguous: layout.is_contiguous(),
        }
    }

    /// Adds those of lookups that follow each other to a list.
    fn extend(&self, list: &mut Vec<u8>, lookups: Range<usize>) {
        let some = |first, count| &self.bytes[first * self.width..][..count * self.width];
        if self.are_contiguous {
            let first = self.layout.offset() + lookups.start;
            return list.extend_from_slice(some(first, lookups.len()));
        }
        for lookup in lookups {
            let coordinates = match self.layout.shape() {
                &[_, each] => &[lookup / each, lookup % each][..],
                _ => &[lookup],
            };
            list.extend_from_slice(some(self.layout.position(coordinates), 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::vectors::tests::with_each_kind;
    use super::*;

    #[test]
    fn a_bad_index_leads_anywhere_and_is_reported() {
        with_each_kind(|| {
            let mut starts = [0; 3];
            let (first, step) = (usize::MAX - 40, u32::MAX as isize);
            let indices = [0, 4, u32::MAX];
            let indices = bytemuck::cast_slice(&indices);
            assert!(!find_each::<u32>(indices, 5, first, step, &mut starts));
            assert!(find_each::<u32>(
                &indices[..8],
                5,
                first,
                -8,
                &mut starts[..2]
            ));
            assert_eq!(starts[..2], [first, first - 32]);
        });
    }
}
