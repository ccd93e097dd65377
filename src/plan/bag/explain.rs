//! Explanation of a pooled lookup, in numbers and as text.

use std::fmt::{self, Display, Formatter};

use super::BagPlan;

/// The work of a pooled lookup: bags, rows, and bytes moved. Made by
/// [`EmbeddingBagCall::explain`](crate::EmbeddingBagCall::explain) without a GPU; nothing is executed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct BagExplanation {
    /// The operator, the mode and the element type.
    pub call: String,
    /// Number of bags: rows of the output.
    pub bags: usize,
    /// Number of lookups: indices that are in bags.
    pub lookups: usize,
    /// Lookups of the longest bag, which one invocation folds for each access of a row.
    pub longest: usize,
    /// Bytes of a row of the table as it is stored: codes, scales and zero points, if it is quantized.
    pub row_bytes: usize,
    /// Bytes of all rows that are read.
    pub rows_bytes: u64,
    /// Bytes of the output.
    pub output_bytes: u64,
    /// Additional bytes that a gather followed by a reduction would write and read again.
    pub saved_bytes: u64,
}

impl BagExplanation {
    /// Explains a plan over a table whose stored rows have `row_bytes` bytes each.
    pub(crate) fn new(plan: &BagPlan, row_bytes: usize) -> Self {
        let (lookups, longest) = (plan.ranges.lookups(), plan.ranges.longest());
        let times = |bytes: usize| (lookups as u64).saturating_mul(bytes as u64);
        BagExplanation {
            call: format!("embedding_bag, mode = {}, {}", plan.mode, plan.dtype),
            bags: plan.ranges.len(),
            lookups,
            longest,
            row_bytes,
            rows_bytes: times(row_bytes),
            output_bytes: plan.output_bytes as u64,
            saved_bytes: times(plan.row_bytes()).saturating_mul(2),
        }
    }
}

impl Display for BagExplanation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.call)?;
        writeln!(
            f,
            "bags        {} of {} lookups, the longest of {}",
            self.bags, self.lookups, self.longest
        )?;
        writeln!(
            f,
            "rows        {} bytes each, {} bytes in all",
            self.row_bytes, self.rows_bytes
        )?;
        writeln!(
            f,
            "output      {} bytes; rows gathered first would move {} more",
            self.output_bytes, self.saved_bytes
        )
    }
}

#[cfg(test)]
mod tests {
    use crate::{BagMode, Bags, DType, Executor, IndexType, Indices, Layout, Params, Rules};

    #[test]
    fn any_number_of_bags_is_explained_at_once() {
        let ids = Layout::strided(&[1 << 40, 1 << 10], &[0, 0], 0).unwrap();
        let ids = Indices::new(&[0u8; 4][..], IndexType::U32, ids).unwrap();
        let table = Params::new(&[0; 512][..], DType::F32, Layout::contiguous(&[2, 64])).unwrap();
        let (bags, rules) = (Bags::rows(BagMode::Sum), Rules::default());
        let call = Executor::Cpu.embedding_bag(bags, &rules, &table, &ids);
        let explanation = call.explain().unwrap();
        assert_eq!(
            (explanation.lookups, explanation.longest),
            (1 << 50, 1 << 10)
        );
        assert_eq!(
            (explanation.rows_bytes, explanation.saved_bytes),
            (1 << 58, 1 << 59)
        );
        assert!(explanation.to_string().contains("the longest of 1024"));
    }
}
