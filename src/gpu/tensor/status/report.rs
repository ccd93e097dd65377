//! What the words of a status say.
//!
//! Used by `status`. A driver that runs nothing, or runs it wrongly, leaves anything in those words. So
//! nothing is computed from them before they are known to be possible.

use crate::error::{BadIndices, Error, OpKind, Result};
use crate::plan::{Coordinate, Plan};

/// The word with the number of the plan that counts next: see `shaders/check.wgsl`.
pub(in crate::gpu) const PLAN_WORD: usize = 6;

/// Words before the index values of the first bad lookup.
const HEAD: usize = 7;

/// Bytes of a status: two words for each coordinate, behind the head.
pub(in crate::gpu) fn bytes(plan: &Plan) -> usize {
    4 * (HEAD + 2 * plan.lookups().coordinates.len())
}

/// Reads the words of a status in which `plans` have counted, at most `most` lookups in all.
pub(in crate::gpu) fn bad_indices(
    plans: &[Plan],
    most: u64,
    words: &[u32],
) -> Result<Option<BadIndices>> {
    let wide = |w: &[u32]| u64::from(w[0]) | u64::from(w[1]) << 32;
    let (count, first) = (wide(&words[..2]), wide(&words[4..6]));
    let (found, located) = (words[2] != 0, words[3] as usize);
    if count == 0 {
        // What is written beside the count is written only where something was counted.
        let beside = words.iter().enumerate().filter(|&(n, _)| n != PLAN_WORD);
        return match beside.map(|(_, word)| word).find(|&&word| word != 0) {
            None => Ok(None),
            Some(word) => impossible(
                plans,
                "a word of a status without bad indices",
                format!("{word:#x}"),
                "0".to_owned(),
            ),
        };
    }
    let plan = match located.checked_sub(1).and_then(|n| plans.get(n)) {
        Some(plan) if found => plan,
        _ => {
            let got = format!("{located}, with {count} bad ones");
            let allowed = match plans.len() {
                1 => "1".to_owned(),
                plans => format!("1 to {plans}"),
            };
            return impossible(plans, "the flag of the first bad index", got, allowed);
        }
    };
    let lookups = plan.lookups().elements() as u64;
    if first >= lookups {
        return impossible(
            plans,
            "the first bad index",
            first.to_string(),
            format!("less than {lookups}"),
        );
    }
    // The call that located the first has found those before it good.
    let most = most.saturating_sub(first);
    if count > most {
        return impossible(
            plans,
            "the number of bad indices",
            count.to_string(),
            format!("at most {most}"),
        );
    }
    let value = |w: &[u32]| match plan.index_type().is_signed() {
        true => i128::from(wide(w) as i64),
        false => i128::from(wide(w)),
    };
    let coordinates = &plan.lookups().coordinates;
    let values: Vec<i128> = words[HEAD..].chunks_exact(2).map(value).collect();
    let values = &values[..coordinates.len()];
    let ty = plan.index_type();
    if let Some(value) = values.iter().find(|&&v| !ty.holds(v)) {
        return impossible(
            plans,
            "an index",
            value.to_string(),
            format!("any {}", ty.name()),
        );
    }
    let is_bad = |(c, &v): (&Coordinate, &i128)| plan.rules().is_bad(v, c.extent);
    if !coordinates.iter().zip(values).any(is_bad) {
        return impossible(
            plans,
            "the first bad index",
            format!("{values:?}"),
            "one that is out of bounds".to_owned(),
        );
    }
    Ok(Some(plan.bad_lookups(first, values, count)))
}

fn impossible<T>(plans: &[Plan], what: &'static str, got: String, allowed: String) -> Result<T> {
    Err(Error::ImpossibleReport {
        op: plans.first().map_or(OpKind::Gather, Plan::op),
        what,
        got,
        allowed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::IndexType;
    use crate::op::Op;
    use crate::rules::Rules;
    use crate::shape::Layout;

    /// A gather_nd of six pairs from params [3, 4].
    fn plan(index_type: IndexType) -> Plan {
        let (params, indices) = (Layout::contiguous(&[3, 4]), Layout::contiguous(&[2, 3, 2]));
        let rules = Rules::TENSORFLOW_CPU;
        Plan::new(Op::gather_nd(), &rules, 4, &params, index_type, &indices).unwrap()
    }

    /// The pair (1, 9) is the fourth and the first of two bad ones.
    const GOOD: [u32; 11] = [2, 0, !3, 1, 3, 0, 0, 1, 0, 9, 0];

    /// The words after so many gathers.
    fn read(plan: Plan, words: &[u32], gathers: u64) -> Result<Option<BadIndices>> {
        bad_indices(&[plan], 6 * gathers, words)
    }

    fn found(count: u64, coordinate: usize, value: i128) -> Result<Option<BadIndices>> {
        Ok(Some(BadIndices {
            op: OpKind::GatherNd,
            position: vec![1, 0, coordinate],
            value,
            axis: coordinate,
            extent: 3 + coordinate,
            count,
        }))
    }

    #[test]
    fn what_a_gather_can_have_counted_is_read() {
        let read = |words: &[u32], gathers| read(plan(IndexType::I64), words, gathers);
        assert_eq!(read(&[0; 11], 0), Ok(None));
        assert_eq!(read(&GOOD, 1), found(2, 1, 9));
        let negative = [2, 0, !3, 1, 3, 0, 0, u32::MAX, u32::MAX, 0, 0];
        assert_eq!(read(&negative, 1), found(2, 0, -1));
        // All that follow are bad, too; in two gathers, the six of the other besides.
        let mut words = GOOD;
        words[0] = 3;
        assert_eq!(read(&words, 1), found(3, 1, 9));
        words[0] = 9;
        assert_eq!(read(&words, 2), found(9, 1, 9));
    }

    #[test]
    fn the_first_bad_index_is_one_of_the_plan_that_found_it() {
        let (params, indices) = (Layout::contiguous(&[7]), Layout::contiguous(&[5]));
        let (op, rules) = (Op::gather(0), Rules::ONNX);
        let other = Plan::new(op, &rules, 4, &params, IndexType::I32, &indices).unwrap();
        let plans = [plan(IndexType::I64), other];
        assert_eq!(bad_indices(&plans, 11, &GOOD), found(2, 1, 9));
        // The number of the plan that counts next says nothing.
        let words = [1, 0, !4, 2, 4, 0, 0, 7, 0, 0, 0];
        for (words, count) in [(words, 1), ([1, 0, !4, 2, 4, 0, 1, 7, 0, 0, 0], 1)] {
            let bad = bad_indices(&plans, 11, &words).unwrap().unwrap();
            assert_eq!((bad.op, bad.position), (OpKind::Gather, vec![4]));
            assert_eq!((bad.value, bad.extent, bad.count), (7, 7, count));
        }
        let mut words = words;
        words[3] = 3;
        assert!(bad_indices(&plans, 11, &words).is_err());
    }

    #[test]
    fn what_no_gather_can_have_counted_is_an_error() {
        let changed = |changes: &[(usize, u32)]| {
            let mut words = GOOD;
            changes.iter().for_each(|&(at, word)| words[at] = word);
            words
        };
        let table = [
            // (words, what of it is impossible)
            ([0xdead_beef; 11], "the flag of the first bad index"),
            ([u32::MAX; 11], "the flag of the first bad index"),
            ([1; 11], "the first bad index"),
            (changed(&[(0, 0)]), "a word of a status without bad indices"),
            (changed(&[(2, 0)]), "the flag of the first bad index"),
            (changed(&[(3, 0)]), "the flag of the first bad index"),
            (changed(&[(3, 2)]), "the flag of the first bad index"),
            (changed(&[(4, 6)]), "the first bad index"),
            (changed(&[(5, 1)]), "the first bad index"),
            (changed(&[(0, 4)]), "the number of bad indices"),
            (changed(&[(1, 1)]), "the number of bad indices"),
            (changed(&[(9, 3)]), "the first bad index"),
            (changed(&[(7, 0), (9, 0)]), "the first bad index"),
        ];
        for index_type in IndexType::ALL {
            for (words, expected) in &table {
                let got = read(plan(index_type), words, 1);
                let Err(Error::ImpossibleReport { op, what, .. }) = got else {
                    panic!("{words:x?}: {got:?}");
                };
                assert_eq!((op, what), (plan(index_type).op(), *expected), "{words:x?}");
            }
        }
        // Nothing was recorded, so there is nothing to report.
        assert!(read(plan(IndexType::I64), &GOOD, 0).is_err());
    }

    #[test]
    fn an_index_is_one_of_its_type() {
        let wide = [2, 0, !3, 1, 3, 0, 0, 1, 0, 9, 1];
        for (index_type, is_right) in [
            (IndexType::I32, false),
            (IndexType::U32, false),
            (IndexType::I64, true),
            (IndexType::U64, true),
        ] {
            let got = read(plan(index_type), &wide, 1);
            assert_eq!(got.is_ok(), is_right, "{index_type:?}: {got:?}");
        }
    }

    #[test]
    fn a_plan_without_lookups_has_no_bad_one() {
        let (params, indices) = (Layout::contiguous(&[3]), Layout::contiguous(&[0]));
        let op = Op::gather(0);
        let rules = Rules::ONNX;
        let empty = Plan::new(op, &rules, 4, &params, IndexType::I32, &indices).unwrap();
        assert_eq!(
            bad_indices(std::slice::from_ref(&empty), 0, &[0; 9]),
            Ok(None)
        );
        let words = [1, 0, !0, 1, 0, 0, 0, 7, 0];
        assert!(bad_indices(&[empty], 0, &words).is_err());
    }
}
