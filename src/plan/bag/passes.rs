//! Which bags are pooled in one dispatch, from which bindings.
//!
//! The order of its rows is part of the result of a bag, so params fit the bindings of one dispatch.
//! A bag of more lookups than an invocation may take is folded by several dispatches, each of which
//! goes on where the one before has stopped.

use std::ops::Range;

use crate::error::{Error, Result, Role};
use crate::plan::bag::pass::{BagPass, offsets_bytes, position};
use crate::plan::bag::{BagPlan, OP, Ranges};
use crate::plan::loop_steps::LOOKUP_STEPS;
use crate::plan::passes::{BindingLimits, Part, Segment, bind, greatest, reach, segments};
use crate::shape::Layout;

/// The parts (buffers) of each tensor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BagParts<'a> {
    pub(crate) params: &'a [Part],
    /// Capacity of params in rows, if params is scratch memory that each pass's rows are decoded into
    /// beforehand, in the order of its lookups.
    pub(crate) decoded: Option<usize>,
    pub(crate) indices: &'a [Part],
    pub(crate) weights: &'a [Part],
    pub(crate) output: &'a [Part],
}

/// The passes over a plan with an output, in each of which an invocation takes at most so many loop steps.
pub(crate) fn bag_passes(
    plan: &BagPlan,
    parts: BagParts<'_>,
    limits: &BindingLimits,
    loop_steps: u32,
) -> Result<Vec<BagPass>> {
    let cutter = Cutter {
        plan,
        parts,
        limits,
        loop_steps,
    };
    let params = cutter.params()?;
    let (mut passes, mut at) = (Vec::new(), 0);
    let most = cutter.most_lookups(params.len());
    while at < plan.ranges.len() {
        let lookups = plan.ranges.of(at);
        if lookups.len() > most {
            cutter.cut_bag(at, most, &params, &mut passes)?;
            at += 1;
            continue;
        }
        let left = plan.ranges.len() - at;
        let count = greatest(left, |count| {
            let bags = at..at + count;
            let short = bags.clone().all(|bag| plan.ranges.of(bag).len() <= most);
            let fits = cutter.lookups(&bags).len() <= parts.decoded.unwrap_or(usize::MAX);
            short && fits && cutter.is_short(bags.clone()) && cutter.bind_all(bags).is_ok()
        });
        let bags = at..at + count.max(1);
        at = bags.end;
        passes.push(BagPass {
            params: params.clone(),
            ..cutter.bind_all(bags)?
        });
    }
    Ok(passes)
}

struct Cutter<'a> {
    plan: &'a BagPlan,
    parts: BagParts<'a>,
    limits: &'a BindingLimits,
    loop_steps: u32,
}

impl Cutter<'_> {
    /// The segments of the table, or of the memory that rows are decoded to.
    fn params(&self) -> Result<Vec<Segment>> {
        let (plan, limits) = (self.plan, self.limits);
        let geometry = &plan.row;
        if plan.lookups.is_empty() || geometry.coordinates.iter().any(|c| c.extent == 0) {
            return Ok(Vec::new());
        }
        let loops = geometry.loops.iter().map(|l| (l.extent, l.params_stride));
        let rows = geometry.coordinates.iter().map(|c| (c.extent, c.stride));
        let width = plan.dtype.bytes();
        let table = match self.parts.decoded {
            Some(rows) => 0..(rows * plan.row_bytes()) as i64,
            None => reach(geometry.params_offset, loops.chain(rows), width),
        };
        // Each access is looked for on its own, and is 16 bytes at most.
        let all = segments(self.parts.params, table.clone(), 16, limits);
        if all.len() <= limits.bag_segments() {
            return Ok(all);
        }
        Err(Error::TensorTooLarge {
            op: OP,
            role: Role::Params,
            bytes: (table.end - table.start) as u64,
            limit: limits.params_bytes * limits.bag_segments() as u64,
        })
    }

    /// The most lookups of a bag that an invocation folds in one dispatch.
    fn most_lookups(&self, segments: usize) -> usize {
        let divides = self.plan.lookups.rules().out_of_bounds.divides();
        let geometry = &self.plan.row;
        let extents = geometry.coordinates.iter().map(|c| c.extent);
        let mut extents = extents.chain(geometry.loops.iter().map(|l| l.extent));
        let searches = segments > 1 || extents.any(|extent| extent > i32::MAX as usize);
        // A loop that is left at once counts a step, too: the lookup, and the division by bits; then
        // the search for a segment.
        let steps = 2 + if divides { 64 } else { 0 };
        let steps = steps
            + if searches {
                self.limits.bag_segments()
            } else {
                0
            };
        // Elements that are put together to a word are folded one after the other.
        let elements = (4 / self.plan.dtype.bytes()).max(1);
        let of_element = self.loop_steps as usize / elements - LOOKUP_STEPS as usize;
        let most = of_element / steps;
        most.min(self.parts.decoded.unwrap_or(usize::MAX))
    }

    /// One bag in several passes.
    fn cut_bag(
        &self,
        bag: usize,
        most: usize,
        params: &[Segment],
        passes: &mut Vec<BagPass>,
    ) -> Result<()> {
        let all = self.plan.ranges.of(bag);
        let mut at = all.start;
        while at < all.end {
            let left = (all.end - at).min(most);
            let count = greatest(left, |count| {
                self.bind(bag..bag + 1, at..at + count).is_ok()
            });
            let lookups = at..at + count.max(1);
            let pass = self.bind(bag..bag + 1, lookups.clone())?;
            passes.push(BagPass {
                params: params.to_vec(),
                resumes: at > all.start,
                is_partial: lookups.end < all.end,
                ..pass
            });
            at = lookups.end;
        }
        Ok(())
    }

    /// A dispatch over these bags is short enough not to block other users of the device.
    fn is_short(&self, bags: Range<usize>) -> bool {
        let made = bags.len() as u64 * self.plan.row_bytes() as u64;
        made.max(self.bytes(&bags)) <= self.limits.pass_bytes
    }

    /// The bytes of the rows of these bags.
    fn bytes(&self, bags: &Range<usize>) -> u64 {
        let lookups = self.lookups(bags).len() as u64;
        lookups.saturating_mul(self.plan.row_bytes() as u64)
    }

    fn lookups(&self, bags: &Range<usize>) -> Range<usize> {
        let ranges = &self.plan.ranges;
        ranges.of(bags.start).start..ranges.of(bags.end - 1).end
    }

    fn bind_all(&self, bags: Range<usize>) -> Result<BagPass> {
        let lookups = self.lookups(&bags);
        self.bind(bags, lookups)
    }

    /// The bindings of a dispatch over these lookups of these bags, but for params.
    fn bind(&self, bags: Range<usize>, lookups: Range<usize>) -> Result<BagPass> {
        let (plan, limits) = (self.plan, self.limits);
        let row = plan.row_bytes() as i64;
        let made = bags.start as i64 * row..bags.end as i64 * row;
        let output = self.one(
            Role::Output,
            self.parts.output,
            made.clone(),
            limits.output_bytes,
        )?;
        let offsets = match plan.ranges {
            Ranges::Even { .. } => 0,
            Ranges::Offsets(_) => offsets_bytes(bags.len()),
        };
        let room = limits.params_bytes.saturating_sub(offsets);
        let (mut indices, mut weights) = (None, None);
        if !lookups.is_empty() {
            let width = plan.lookups.index_type().bytes();
            let data = self.reach(plan.indices(), &bags, &lookups, width);
            indices = Some(self.one(
                Role::Indices,
                self.parts.indices,
                data,
                limits.indices_bytes,
            )?);
            if let Some(layout) = &plan.weights {
                let data = self.reach(layout, &bags, &lookups, plan.dtype.bytes());
                weights = Some(self.one(Role::Weights, self.parts.weights, data, room)?);
            }
        }
        // Numbers of words, lookups and bags stay below 2^31 on the device.
        let counted = [made.end - made.start, lookups.len() as i64, offsets as i64];
        if offsets > limits.params_bytes || counted.iter().any(|&n| n > i64::from(i32::MAX / 2)) {
            return Err(Error::TensorTooLarge {
                op: OP,
                role: Role::Offsets,
                bytes: offsets,
                limit: limits.params_bytes,
            });
        }
        Ok(BagPass {
            bytes: (lookups.len() as u64)
                .saturating_mul(plan.row_bytes() as u64)
                .max((made.end - made.start) as u64),
            resumes: false,
            is_partial: false,
            is_decoded: self.parts.decoded.is_some(),
            bags,
            lookups,
            params: Vec::new(),
            indices,
            weights,
            output,
            output_offset: (made.start - output.origin) as u64,
        })
    }

    /// The one segment with these bytes.
    fn one(&self, role: Role, parts: &[Part], data: Range<i64>, limit: u64) -> Result<Segment> {
        let bytes = (data.end - data.start) as u64;
        bind(parts, data, limit, self.limits).ok_or(Error::TensorTooLarge {
            op: OP,
            role,
            bytes,
            limit,
        })
    }

    /// The bytes that some bags reach of a tensor of the shape of the indices.
    fn reach(
        &self,
        layout: &Layout,
        bags: &Range<usize>,
        lookups: &Range<usize>,
        width: usize,
    ) -> Range<i64> {
        let first = position(layout, &self.plan.ranges, lookups.start);
        let strides = layout.strides();
        let loops = match self.plan.ranges {
            Ranges::Even { .. } => {
                let each = lookups.len() / bags.len();
                [(bags.len(), strides[0]), (each, strides[1])]
            }
            Ranges::Offsets(_) => [(lookups.len(), strides[0]), (1, 0)],
        };
        reach(first, loops.into_iter(), width)
    }
}
