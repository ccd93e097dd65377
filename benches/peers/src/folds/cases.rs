//! The cases, as data: the Python side gets them from here.

use wgpu_gather::DType::{self, BF16, F16, F32, F64, I8, I32};
use wgpu_gather::Reduce::{self, Add, Max, Mul, None as Last};
use wgpu_gather::quantized::BlockFormat::{self, Q4_0, Q8_0};

use crate::bench::pattern::Pattern::{self, Permutation, Random, Same, Sorted, Zipf};
use Kind::{Bags, Gradient, InPlace, Scatter};
use Stored::{As, Blocks, Bytes};

/// What is folded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Row `ids[n]` is combined with `updates[n]`, in a copy of the rows.
    Scatter(Reduce),
    /// The same in the rows themselves, again and again.
    InPlace(Reduce),
    /// The gradient of a gather: `updates[n]` is added to row `ids[n]` of zeros.
    Gradient,
    /// The sums of bags of rows.
    Bags { each: usize, weighted: bool },
}

/// How a table is stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stored {
    As(DType),
    /// In blocks of GGUF.
    Blocks(BlockFormat),
    /// In FBGEMM's rows of bytes.
    Bytes,
}

/// A fold of rows that ids name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) kind: Kind,
    pub(crate) stored: Stored,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) ids: usize,
    pub(crate) pattern: Pattern,
}

const M: usize = 1_000_000;

const fn case(
    kind: Kind,
    stored: Stored,
    [rows, columns]: [usize; 2],
    ids: usize,
    pattern: Pattern,
) -> Case {
    Case {
        kind,
        stored,
        rows,
        columns,
        ids,
        pattern,
    }
}

const fn sums(each: usize) -> Kind {
    Bags {
        each,
        weighted: false,
    }
}

const fn weighted(each: usize) -> Kind {
    Bags {
        each,
        weighted: true,
    }
}

/// Not all combinations: each type, size, pattern and way to reduce, twice at least. Sums of halves are of few
/// rows each, as peers that round at each step are only right as long as sums are exact.
pub(crate) const CASES: [Case; 60] = [
    case(Scatter(Add), As(F32), [32_768, 768], 32_768, Random),
    case(Scatter(Add), As(F32), [32_768, 768], 32_768, Sorted),
    case(Scatter(Add), As(F32), [1000, 768], 32_768, Random),
    case(Scatter(Add), As(F32), [32_768, 4], 32_768, Random),
    case(Scatter(Mul), As(F32), [100_000, 16], 32_768, Random),
    case(Scatter(Mul), As(I32), [100_000, 64], 512, Permutation),
    case(InPlace(Add), As(F32), [1000, 1], 16, Random),
    case(InPlace(Add), As(F32), [1000, 64], 16, Random),
    case(InPlace(Add), As(F32), [1000, 1], 512, Same),
    case(InPlace(Add), As(F32), [100_000, 4], 512, Random),
    case(InPlace(Add), As(F32), [100_000, 256], 512, Random),
    case(InPlace(Add), As(F32), [4096, 4096], 512, Random),
    case(InPlace(Add), As(F32), [4096, 4096], 4096, Permutation),
    case(InPlace(Add), As(F32), [32_768, 768], 32_768, Random),
    case(InPlace(Add), As(F32), [32_768, 768], 32_768, Sorted),
    case(InPlace(Add), As(F32), [1000, 768], 32_768, Zipf),
    case(InPlace(Add), As(F32), [M, 1], M, Random),
    case(InPlace(Add), As(F32), [M, 1], M, Sorted),
    case(InPlace(Add), As(F32), [M, 4], M, Random),
    case(InPlace(Add), As(F32), [100_000, 4], M, Zipf),
    case(InPlace(Add), As(F32), [100_000, 16], 32_768, Random),
    case(InPlace(Add), As(F32), [100_000, 16], M, Random),
    case(InPlace(Add), As(F32), [100_000, 64], 32_768, Random),
    case(InPlace(Add), As(F32), [100_000, 64], 32_768, Sorted),
    case(InPlace(Add), As(F32), [100_000, 64], 32_768, Zipf),
    case(InPlace(Add), As(F32), [100_000, 64], 32_768, Same),
    case(InPlace(Add), As(F32), [100_000, 256], 32_768, Random),
    case(InPlace(Add), As(F64), [100_000, 4], 32_768, Random),
    case(InPlace(Add), As(F64), [32_768, 64], 32_768, Random),
    case(InPlace(Add), As(F16), [100_000, 64], 32_768, Random),
    case(InPlace(Add), As(F16), [32_768, 768], 32_768, Random),
    case(InPlace(Add), As(BF16), [100_000, 16], 32_768, Sorted),
    case(InPlace(Add), As(BF16), [100_000, 256], 32_768, Random),
    case(InPlace(Add), As(I8), [100_000, 16], 32_768, Zipf),
    case(InPlace(Add), As(I8), [100_000, 256], 32_768, Random),
    case(InPlace(Add), As(I32), [100_000, 64], 32_768, Random),
    case(InPlace(Add), As(I32), [100_000, 1], M, Zipf),
    case(InPlace(Max), As(F32), [100_000, 64], 32_768, Random),
    case(InPlace(Max), As(I32), [100_000, 4], 32_768, Zipf),
    case(InPlace(Last), As(F32), [100_000, 64], 32_768, Permutation),
    case(InPlace(Last), As(F16), [32_768, 768], 32_768, Permutation),
    case(InPlace(Last), As(I32), [M, 1], M, Permutation),
    case(Gradient, As(F32), [50_000, 128], 32_768, Random),
    case(Gradient, As(F32), [10_000, 768], 512, Zipf),
    case(Gradient, As(BF16), [50_000, 256], 32_768, Random),
    case(sums(32), As(F32), [50_000, 128], 32_768, Random),
    case(sums(1), As(F32), [100_000, 64], 32_768, Random),
    case(weighted(8), As(F32), [100_000, 64], 32_768, Random),
    case(sums(1000), As(F32), [100_000, 64], 32_000, Zipf),
    case(weighted(1000), As(F32), [100_000, 256], 32_000, Random),
    case(sums(32), As(F32), [100_000, 64], M, Random),
    case(sums(32), As(F16), [100_000, 64], 32_768, Random),
    case(weighted(8), As(F16), [100_000, 128], 32_768, Random),
    case(weighted(1), As(F32), [100_000, 256], 512, Random),
    case(sums(32), Blocks(Q8_0), [100_000, 128], 32_768, Random),
    case(weighted(8), Blocks(Q8_0), [100_000, 256], 32_768, Random),
    case(sums(32), Blocks(Q4_0), [100_000, 128], 32_768, Random),
    case(sums(1000), Blocks(Q4_0), [100_000, 256], 32_000, Random),
    case(sums(32), Bytes, [100_000, 128], 32_768, Random),
    case(weighted(8), Bytes, [100_000, 64], 32_768, Random),
];

impl Kind {
    /// Its name; a scatter's is that of how it combines.
    pub(crate) fn name(self) -> String {
        let copied = |reduce: Reduce| format!("{} to a copy", reduce.name());
        match self {
            Scatter(reduce) => copied(reduce),
            InPlace(reduce) => reduce.name().to_owned(),
            Gradient => "gradient".to_owned(),
            Bags { each, weighted } => {
                format!("{}bags of {each}", if weighted { "weighted " } else { "" })
            }
        }
    }
}

impl Stored {
    pub(crate) fn name(self) -> &'static str {
        match self {
            As(dtype) => dtype.name(),
            Blocks(format) => format.name(),
            Bytes => "rows of bytes",
        }
    }

    /// What is folded and comes out.
    pub(crate) fn dtype(self) -> DType {
        match self {
            As(dtype) => dtype,
            Blocks(_) | Bytes => F32,
        }
    }
}

impl Case {
    pub(crate) fn name(&self) -> String {
        let (kind, stored) = (self.kind.name(), self.stored.name());
        let (rows, columns, ids) = (self.rows, self.columns, self.ids);
        let pattern = self.pattern.name();
        format!("{kind}, {stored} {rows} x {columns}, {ids} {pattern}")
    }

    /// Sums of f32 of no more lookups than this, which every library has a call for.
    pub(crate) fn is_plain(&self) -> bool {
        let sums = match self.kind {
            Scatter(reduce) | InPlace(reduce) => reduce == Add,
            Bags { weighted, .. } => !weighted,
            Gradient => false,
        };
        sums && self.stored == As(F32) && self.ids <= 32_768
    }

    /// The bags of a pooled lookup and the rows of each; else one row for each lookup.
    pub(crate) fn ids_shape(&self) -> Vec<usize> {
        match self.kind {
            Scatter(_) | InPlace(_) | Gradient => vec![self.ids],
            Bags { each, .. } => vec![self.ids / each, each],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values that have to be there twice.
    #[test]
    fn each_value_is_in_two_cases() {
        let count = |is: &dyn Fn(&Case) -> bool| CASES.iter().filter(|case| is(case)).count();
        let mut found = Vec::new();
        for columns in [1, 4, 16, 64, 256, 768, 4096] {
            found.push((
                format!("{columns} columns"),
                count(&|c| c.columns == columns),
            ));
        }
        for dtype in [F32, F64, F16, BF16, I8, I32] {
            found.push((dtype.name().into(), count(&|c| c.stored == As(dtype))));
        }
        for stored in [Blocks(Q8_0), Blocks(Q4_0), Bytes] {
            found.push((stored.name().into(), count(&|c| c.stored == stored)));
        }
        for ids in [16, 512, 32_768, M] {
            found.push((format!("{ids} ids"), count(&|c| c.ids == ids)));
        }
        for pattern in [Random, Sorted, Zipf, Same, Permutation] {
            found.push((pattern.name().into(), count(&|c| c.pattern == pattern)));
        }
        for reduce in [Add, Max, Last, Mul] {
            let is = |c: &Case| [Scatter(reduce), InPlace(reduce)].contains(&c.kind);
            found.push((reduce.name().into(), count(&is)));
        }
        for of in [1, 8, 32, 1000] {
            let is = |c: &Case| matches!(c.kind, Bags { each, .. } if each == of);
            found.push((format!("bags of {of}"), count(&is)));
        }
        found.push(("gradients".into(), count(&|c| c.kind == Gradient)));
        let few: Vec<_> = found.iter().filter(|(_, count)| *count < 2).collect();
        assert!(few.is_empty(), "in fewer than two cases: {few:?}");
    }
}
