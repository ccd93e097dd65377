//! Lookups of bags that follow each other: what they find, a window of them at a time.

use std::ops::Range;

use super::super::lookups::{BAD, Lookups};
use super::table::Table;
use crate::operand::Params;
use crate::plan::BagPlan;

/// The most bags in a window.
const MOST_BAGS: usize = 1024;

/// All that the windows of a call are made of.
pub(super) struct Source<'a> {
    pub(super) plan: &'a BagPlan,
    /// Of row numbers.
    pub(super) lookups: Lookups<'a>,
    pub(super) table: Table<'a>,
    pub(super) weights: Option<&'a Params<'a>>,
}

/// A window of the lookups of some bags.
pub(super) struct Window<'a> {
    source: &'a Source<'a>,
    /// The bags from the first one here on.
    bags: Range<usize>,
    /// The next lookup.
    next: usize,
    /// The row of each lookup, of the padding as well.
    rows: Vec<usize>,
    /// Of each lookup but those of the padding: where its row starts in the table, by [`Table::start`], or
    /// [`BAD`].
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
    /// The empty window before some bags.
    pub(super) fn before(source: &'a Source<'a>, bags: Range<usize>) -> Self {
        Window {
            source,
            next: source.plan.ranges.of(bags.start).start,
            bags,
            rows: Vec::new(),
            starts: Vec::new(),
            weights: Vec::new(),
            ends: Vec::new(),
            before: 0,
            goes_on: false,
        }
    }

    /// The first bag of the window; nothing after the last.
    pub(super) fn first_bag(&self) -> Option<usize> {
        (!self.bags.is_empty()).then_some(self.bags.start)
    }

    /// Goes on to the next window, which has up to so many lookups.
    pub(super) fn advance(&mut self, most: usize) {
        let rows_of_last = match self.ends[..] {
            [.., before, last] => last - before,
            [only] => self.before + only,
            [] => 0,
        };
        self.before = if self.goes_on { rows_of_last } else { 0 };
        self.bags.start += self.ends.len() - usize::from(self.goes_on);
        self.goes_on = false;
        self.starts.clear();
        self.weights.clear();
        self.ends.clear();
        if self.bags.is_empty() {
            return;
        }
        let ranges = &self.source.plan.ranges;
        let end = ranges.of(self.bags.end - 1).end;
        let lookups = self.next..end.min(self.next + most);
        self.rows.resize(lookups.len(), BAD);
        self.source.lookups.find_from(lookups.start, &mut self.rows);
        for bag in self.bags.clone().take(MOST_BAGS) {
            let of_bag = ranges.of(bag);
            self.goes_on = of_bag.end > lookups.end;
            let here = of_bag.start.max(lookups.start)..of_bag.end.min(lookups.end);
            self.next = here.end;
            self.take(here, lookups.start);
            self.ends.push(self.starts.len());
            if self.goes_on {
                break;
            }
        }
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
            BAD => BAD,
            row => source.table.start(row),
        };
        let Some(padding) = source.plan.padding else {
            self.starts.extend(rows.iter().map(start));
            return source.extend_weights(&mut self.weights, lookups);
        };
        for (lookup, row) in lookups.zip(rows) {
            if *row != padding {
                self.starts.push(start(row));
                source.extend_weights(&mut self.weights, lookup..lookup + 1);
            }
        }
    }
}

impl Source<'_> {
    /// Adds the weights of lookups that follow each other.
    fn extend_weights(&self, to: &mut Vec<u8>, lookups: Range<usize>) {
        let (Some(weights), Some(layout)) = (self.weights, &self.plan.weights) else {
            return;
        };
        let width = self.plan.dtype.bytes();
        let elements = |first: usize, count| &weights.bytes()[first * width..][..count * width];
        if layout.is_contiguous() {
            let first = layout.offset() + lookups.start;
            return to.extend_from_slice(elements(first, lookups.len()));
        }
        for lookup in lookups {
            let coordinates = match layout.shape() {
                &[_, each] => &[lookup / each, lookup % each][..],
                _ => &[lookup],
            };
            to.extend_from_slice(elements(layout.position(coordinates), 1));
        }
    }
}
