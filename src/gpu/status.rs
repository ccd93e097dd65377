//! The status of a gather whose rules ask for an error: how many lookups are bad, and the first.

use crate::error::Error;
use crate::plan::Plan;

/// Bytes of the status buffer for a plan: two words and two more for each coordinate.
pub(super) fn bytes(plan: &Plan) -> usize {
    8 + 8 * plan.lookups().coordinates.len()
}

/// The error that the status holds, if any index was bad.
pub(super) fn error(plan: &Plan, status: &[u8]) -> Option<Error> {
    let words: Vec<u32> = status
        .chunks_exact(4)
        .map(bytemuck::pod_read_unaligned)
        .collect();
    let (count, first) = (words[0], !words[1]);
    if count == 0 {
        return None;
    }
    let signed = plan.index_type().is_signed();
    let values: Vec<i128> = words[2..]
        .chunks_exact(2)
        .map(|w| {
            let bits = u64::from(w[0]) | u64::from(w[1]) << 32;
            if signed {
                i128::from(bits as i64)
            } else {
                i128::from(bits)
            }
        })
        .collect();
    Some(plan.bad_index(u64::from(first), &values, u64::from(count)))
}
