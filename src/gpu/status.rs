//! The status of a gather whose rules ask for an error: how many lookups are bad, and the first.
//!
//! It is counted on the device beside the gather and costs no synchronisation until it is read.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::error::{Error, Result};
use crate::gpu::context::Context;
use crate::gpu::pool::Owned;
use crate::gpu::storage::Placement;
use crate::gpu::wait::PollMode;
use crate::index::IndexType;
use crate::plan::Plan;

/// Counts the bad indices of recorded gathers of one plan.
#[derive(Debug, Clone)]
pub struct Status {
    context: Arc<Context>,
    plan: Plan,
    owned: Arc<Owned>,
    /// Whether it was read after its gather and had nothing to report.
    clean: Arc<AtomicBool>,
    /// How many gathers were recorded with it: each counts a bad lookup once.
    recorded: Arc<AtomicU64>,
}

impl Status {
    pub(super) fn new(context: &Arc<Context>, plan: &Plan) -> Result<Status> {
        Ok(Status {
            context: Arc::clone(context),
            plan: plan.clone(),
            owned: context.acquire("status", bytes(plan) as u64)?,
            clean: Arc::default(),
            recorded: Arc::default(),
        })
    }

    /// To be called for each gather that is recorded with it.
    pub(super) fn note_recording(&self) {
        self.recorded.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts from zero again. Takes effect before what is submitted next.
    ///
    /// # Errors
    ///
    /// The errors of the device.
    pub fn clear(&self) -> Result<()> {
        let zeros = vec![0; bytes(&self.plan)];
        let queue = &self.context.queue;
        self.context
            .scoped("a status", || queue.write_buffer(self.buffer(), 0, &zeros))
    }

    /// Whether it need not be read again. For the status of a tensor, which one gather writes.
    pub(super) fn is_clean(&self) -> bool {
        self.clean.load(Ordering::Relaxed)
    }

    /// It has nothing to report.
    pub(super) fn set_clean(&self) {
        self.clean.store(true, Ordering::Relaxed);
    }

    pub(super) fn buffer(&self) -> &wgpu::Buffer {
        self.owned.buffer()
    }

    pub(super) fn owned(&self) -> &Arc<Owned> {
        &self.owned
    }

    /// Waits for what was submitted and reads whether an index was bad.
    ///
    /// # Errors
    ///
    /// [`Error::IndexOutOfBounds`] names the first bad index in row-major order and says how many
    /// there are, exactly as the CPU path does. [`Error::ImpossibleReport`] if the device says what
    /// no gather of this plan can have counted; else the errors of the device.
    pub async fn read(&self) -> Result<()> {
        self.read_driven(PollMode::Aside).await
    }

    /// [`Status::read`], blocking this thread.
    ///
    /// # Errors
    ///
    /// As [`Status::read`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn read_blocking(&self) -> Result<()> {
        pollster::block_on(self.read_driven(PollMode::Here))
    }

    pub(super) async fn read_driven(&self, poll_mode: PollMode) -> Result<()> {
        let mut words = vec![0u32; bytes(&self.plan) / 4];
        let output = bytemuck::cast_slice_mut(&mut words);
        let placement = Placement::of(self.buffer().slice(..));
        self.context
            .read(placement, output, poll_mode, &mut |_, _| ())
            .await?;
        let recorded = self.recorded.load(Ordering::Relaxed);
        match bad_lookups(&self.plan, &words, recorded)? {
            Some(BadLookups {
                first,
                values,
                count,
            }) => Err(self.plan.bad_index(first, &values, count)),
            None => {
                self.set_clean();
                Ok(())
            }
        }
    }
}

/// Six words, and two more for each coordinate: see `shaders/check.wgsl`.
fn bytes(plan: &Plan) -> usize {
    24 + 8 * plan.lookups().coordinates.len()
}

/// What a status says, once it is known to make sense.
#[derive(Debug, PartialEq, Eq)]
struct BadLookups {
    first: u64,
    /// The index values of the first, of which at least one is bad.
    values: Vec<i128>,
    count: u64,
}

/// Reads the words of a status after at most `recorded` gathers.
///
/// A driver that runs nothing, or runs it wrongly, leaves anything here. So nothing is computed
/// from the words before they are known to be possible.
fn bad_lookups(plan: &Plan, words: &[u32], recorded: u64) -> Result<Option<BadLookups>> {
    let wide = |w: &[u32]| u64::from(w[0]) | u64::from(w[1]) << 32;
    let (count, first) = (wide(&words[..2]), wide(&words[4..6]));
    let (found, located) = (words[2] != 0, words[3]);
    let impossible = |what, got: String, allowed: String| {
        Err(Error::ImpossibleReport {
            op: plan.op(),
            what,
            got,
            allowed,
        })
    };
    if count == 0 {
        // What is written beside the count is written only where something was counted.
        return match words.iter().find(|&&word| word != 0) {
            None => Ok(None),
            Some(word) => impossible(
                "a word of a status without bad indices",
                format!("{word:#x}"),
                "0".to_owned(),
            ),
        };
    }
    if !found || located != 1 {
        let got = format!("{located}, with {count} bad ones");
        return impossible("the flag of the first bad index", got, "1".to_owned());
    }
    let lookups = plan.lookups().elements() as u64;
    if first >= lookups {
        return impossible(
            "the first bad index",
            first.to_string(),
            format!("less than {lookups}"),
        );
    }
    // The gather that located the first has found those before it good.
    let most = recorded.saturating_mul(lookups).saturating_sub(first);
    if count > most {
        return impossible(
            "the number of bad indices",
            count.to_string(),
            format!("at most {most}"),
        );
    }
    let value = |w: &[u32]| match plan.index_type() {
        IndexType::I32 | IndexType::I64 => i128::from(wide(w) as i64),
        IndexType::U32 | IndexType::U64 => i128::from(wide(w)),
    };
    let values: Vec<i128> = words[6..].chunks_exact(2).map(value).collect();
    let ty = plan.index_type();
    if let Some(value) = values.iter().find(|&&v| !ty.holds(v)) {
        return impossible("an index", value.to_string(), format!("any {}", ty.name()));
    }
    let mut coordinates = plan.lookups().coordinates.iter().zip(&values);
    if coordinates.all(|(c, &v)| plan.rules().resolve(v, c.extent).is_some()) {
        return impossible(
            "the first bad index",
            format!("{values:?}"),
            "one that is out of bounds".to_owned(),
        );
    }
    Ok(Some(BadLookups {
        first,
        values,
        count,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
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
    const GOOD: [u32; 10] = [2, 0, !3, 1, 3, 0, 1, 0, 9, 0];

    #[test]
    fn what_a_gather_can_have_counted_is_read() {
        let read = |words: &[u32], recorded| bad_lookups(&plan(IndexType::I64), words, recorded);
        assert_eq!(read(&[0; 10], 0), Ok(None));
        let found = |count, values: [i128; 2]| {
            Ok(Some(BadLookups {
                first: 3,
                values: values.to_vec(),
                count,
            }))
        };
        assert_eq!(read(&GOOD, 1), found(2, [1, 9]));
        let negative = [2, 0, !3, 1, 3, 0, u32::MAX, u32::MAX, 0, 0];
        assert_eq!(read(&negative, 1), found(2, [-1, 0]));
        // All that follow are bad, too; in two gathers, the six of the other besides.
        let mut words = GOOD;
        words[0] = 3;
        assert_eq!(read(&words, 1), found(3, [1, 9]));
        words[0] = 9;
        assert_eq!(read(&words, 2), found(9, [1, 9]));
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
            ([0xdead_beef; 10], "the flag of the first bad index"),
            ([u32::MAX; 10], "the flag of the first bad index"),
            ([1; 10], "the first bad index"),
            (changed(&[(0, 0)]), "a word of a status without bad indices"),
            (changed(&[(2, 0)]), "the flag of the first bad index"),
            (changed(&[(3, 0)]), "the flag of the first bad index"),
            (changed(&[(3, 2)]), "the flag of the first bad index"),
            (changed(&[(4, 6)]), "the first bad index"),
            (changed(&[(5, 1)]), "the first bad index"),
            (changed(&[(0, 4)]), "the number of bad indices"),
            (changed(&[(1, 1)]), "the number of bad indices"),
            (changed(&[(8, 3)]), "the first bad index"),
            (changed(&[(6, 0), (8, 0)]), "the first bad index"),
        ];
        for index_type in IndexType::ALL {
            for (words, expected) in &table {
                let got = bad_lookups(&plan(index_type), words, 1);
                let Err(Error::ImpossibleReport { op, what, .. }) = got else {
                    panic!("{words:x?}: {got:?}");
                };
                assert_eq!((op, what), (plan(index_type).op(), *expected), "{words:x?}");
            }
        }
        // Nothing was recorded, so there is nothing to report.
        assert!(bad_lookups(&plan(IndexType::I64), &GOOD, 0).is_err());
    }

    #[test]
    fn an_index_is_one_of_its_type() {
        let wide = [2, 0, !3, 1, 3, 0, 1, 0, 9, 1];
        for (index_type, is_right) in [
            (IndexType::I32, false),
            (IndexType::U32, false),
            (IndexType::I64, true),
            (IndexType::U64, true),
        ] {
            let got = bad_lookups(&plan(index_type), &wide, 1);
            assert_eq!(got.is_ok(), is_right, "{index_type:?}: {got:?}");
        }
    }

    #[test]
    fn a_plan_without_lookups_has_no_bad_one() {
        let (params, indices) = (Layout::contiguous(&[3]), Layout::contiguous(&[0]));
        let op = Op::gather(0);
        let rules = Rules::ONNX;
        let empty = Plan::new(op, &rules, 4, &params, IndexType::I32, &indices).unwrap();
        assert_eq!(bad_lookups(&empty, &[0; 8], 1), Ok(None));
        let words = [1, 0, !0, 1, 0, 0, 7, 0];
        assert!(bad_lookups(&empty, &words, 1).is_err());
    }
}
