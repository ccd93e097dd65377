//! What the calls of the model do to its vectors.

use wgpu_gather::{BadIndices, Op, OpKind, OutOfBounds, Reduce, Rules};

use super::arithmetic::{Lookups, fold, folded, pool, resolve};
use super::model::{Bag, Call, Gather, Model, Scatter};
use super::view::{coordinates, index};

impl Model {
    /// Executes a call at once, and says which indices were bad.
    pub(super) fn run(&mut self, call: &Call) -> Option<BadIndices> {
        match call {
            Call::Gather(gather) => self.gather(gather),
            Call::Scatter(scatter) => self.scatter(scatter),
            Call::Bag(bag) => self.bag(bag),
            Call::Copy { from, to } => {
                let elements = self.elements(from);
                self.write(to, &elements);
                None
            }
        }
    }

    fn gather(&mut self, g: &Gather) -> Option<BadIndices> {
        let rows = g.count.unwrap_or(usize::MAX);
        let index_at = |at: &[usize]| index(self.element(&g.indices, at), g.index_type);
        let (found, bad) = g.lookups().find(g.op.kind(), &g.rules, index_at);
        let fill = fill_of(&g.rules);
        let value = |source: &Option<Vec<usize>>| match source {
            Some(at) => self.element(&g.params, at),
            None => fill,
        };
        let elements: Vec<u64> = found.iter().map(value).collect();
        let each = coordinates(&g.output.shape);
        for (at, bits) in each.iter().zip(elements) {
            if at.first().is_none_or(|&row| row < rows) {
                self.set(&g.output, at, bits);
            }
        }
        bad
    }

    fn scatter(&mut self, s: &Scatter) -> Option<BadIndices> {
        let index_at = |at: &[usize]| index(self.element(&s.indices, at), s.index_type);
        let (found, bad) = s.lookups().find(s.op.transposed_kind(), &s.rules, index_at);
        let updates = self.elements(&s.updates);
        let mut touched = Vec::new();
        for (target, update) in found.into_iter().zip(updates) {
            if let Some(target) = target {
                let before = self.element(&s.destination, &target);
                let after = fold(s.destination.dtype, s.reduce, before, update);
                self.set(&s.destination, &target, after);
                touched.push(target);
            }
        }
        // What is only moved keeps its bits.
        touched.retain(|_| s.reduce != Reduce::None);
        for target in touched {
            let bits = self.element(&s.destination, &target);
            self.set(&s.destination, &target, folded(s.destination.dtype, bits));
        }
        bad
    }

    fn bag(&mut self, b: &Bag) -> Option<BadIndices> {
        let dtype = b.params.dtype;
        let looked_up = coordinates(&b.indices.shape);
        let rows = b.params.shape[0];
        let lookups = Lookups {
            op: Op::gather(0),
            params: &b.params.shape,
            indices: &b.indices.shape,
        };
        let index_at = |at: &[usize]| index(self.element(&b.indices, at), b.index_type);
        let (_, bad) = lookups.find(OpKind::EmbeddingBag, &b.rules, index_at);
        let row_of = |at: &[usize]| resolve(&b.rules, index_at(at), rows);
        let columns = coordinates(&b.params.shape[1..]);
        let mut start = 0;
        let mut elements = Vec::new();
        for &end in &b.ends {
            for column in &columns {
                let mut values = Vec::new();
                for at in &looked_up[start..end] {
                    let row = row_of(at);
                    if row.is_some() && row == b.padding {
                        continue;
                    }
                    let value = row.map_or(fill_of(&b.rules), |row| {
                        self.element(&b.params, &[&[row], &column[..]].concat())
                    });
                    values.push(match &b.weights {
                        None => value,
                        Some(w) => fold(dtype, Reduce::Mul, self.element(w, at), value),
                    });
                }
                elements.push(pool(dtype, b.mode, &values));
            }
            start = end;
        }
        self.write(&b.output, &elements);
        bad
    }
}

/// What an element is whose index is bad.
fn fill_of(rules: &Rules) -> u64 {
    match &rules.out_of_bounds {
        OutOfBounds::Fill(fill) => {
            let mut bytes = [0; 8];
            bytes[..fill.bytes().len()].copy_from_slice(fill.bytes());
            u64::from_le_bytes(bytes)
        }
        _ => 0,
    }
}
