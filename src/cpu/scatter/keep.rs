//! Which lookups belong to the rows of one thread.
//!
//! Each thread asks this of all lookups, and the answer is as good as random: so no branch depends on it, and where
//! the processor can, eight are asked at once.
#![cfg_attr(
    all(target_arch = "x86_64", not(miri)),
    allow(unsafe_code, reason = "a function for processors with AVX2")
)]

use std::hint::select_unpredictable;
use std::iter::zip;
use std::ops::Range;

use super::super::lookups::load;
use super::super::vectors::vectorized;
use crate::index::{Bits, IndexType, Word, with_index_type};

/// How many lookups are asked at most: what is kept of them stays in the first cache.
pub(super) const WINDOW: usize = 512;

/// What is written behind the last that is kept.
const SPARE: usize = 8;

/// The lookups of a window that belong to some rows.
pub(super) struct Kept {
    /// The rows.
    wanted: Range<usize>,
    /// How many lookups the window has, and how many of them are kept.
    asked: usize,
    count: usize,
    /// Of each lookup that is kept: its row, from the first one wanted, and its number in the window.
    rows: Vec<u32>,
    numbers: Vec<u32>,
}

impl Kept {
    /// Nothing yet, of fewer than 2^32 rows, with room for a window of so many lookups.
    pub(super) fn new(wanted: Range<usize>, lookups: usize) -> Self {
        let room = lookups.min(WINDOW) + SPARE;
        Kept {
            wanted,
            count: 0,
            asked: 0,
            rows: vec![0; room],
            numbers: vec![0; room],
        }
    }

    pub(super) fn rows(&self) -> &[u32] {
        &self.rows[..self.count]
    }

    /// Nothing where all were kept.
    pub(super) fn numbers(&self) -> Option<&[u32]> {
        (self.count < self.asked).then(|| &self.numbers[..self.count])
    }

    /// Rows with their numbers.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (u32, u32)> {
        let number = |n| self.numbers().map_or(n as u32, |numbers| numbers[n]);
        zip(self.rows(), (0..).map(number)).map(|(&row, number)| (row, number))
    }

    /// Keeps what belongs here of a window of lookups, of which these are the rows.
    #[inline(always)]
    pub(super) fn take(&mut self, rows: impl Iterator<Item = usize>) {
        let (mut asked, mut kept) = (0, 0);
        let (kept_rows, kept_numbers) = (&mut self.rows[..], &mut self.numbers[..]);
        for row in rows.take(WINDOW) {
            let row = row.wrapping_sub(self.wanted.start);
            kept_rows[kept] = row as u32;
            kept_numbers[kept] = asked;
            kept += usize::from(row < self.wanted.len());
            asked += 1;
        }
        (self.asked, self.count) = (asked as usize, kept);
    }

    /// The same for indices that are rows, if all are below `bound`; else returns false, and what is kept is of no
    /// use.
    pub(super) fn take_keys(&mut self, of: IndexType, indices: &[u8], bound: u64) -> bool {
        self.asked = indices.len() / of.bytes();
        if self.wanted.start == 0 && bound <= self.wanted.len() as u64 {
            self.count = self.asked;
            let rows = &mut self.rows[..self.count];
            return with_index_type!(of, I => find_all::<<I as Word>::Bits>(indices, bound, rows));
        }
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if let Some(last) = bound
            .checked_sub(1)
            .and_then(|last| u32::try_from(last).ok())
            && std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("popcnt")
        {
            // SAFETY: the processor has AVX2 and POPCNT.
            return unsafe { self.take_eights(of, indices, last) };
        }
        self.take_each(of, indices, bound)
    }

    fn take_each(&mut self, of: IndexType, indices: &[u8], bound: u64) -> bool {
        with_index_type!(of, I => self.take_bits::<<I as Word>::Bits>(indices, bound))
    }

    fn take_bits<W: Bits>(&mut self, indices: &[u8], bound: u64) -> bool {
        let each = (0..indices.len() / size_of::<W>()).map(|n| load::<W>(indices, n).into());
        self.take(each.clone().map(|index: u64| index as usize));
        each.fold(true, |all, index| all & (index < bound))
    }
}

vectorized! {
    /// Takes all indices for rows; returns whether all are below `bound`.
    [Avx2] fn find_all<W: Bits>(_f16c; indices: &[u8], bound: u64, rows: &mut [u32]) -> bool {
        let mut all = true;
        for (row, bytes) in zip(rows, indices.chunks_exact(size_of::<W>())) {
            let index: u64 = bytemuck::pod_read_unaligned::<W>(bytes).into();
            let is_row = index < bound;
            all &= is_row;
            // Of the index as it is, compilers make a copy of all apart from this loop: they are read twice then.
            *row = select_unpredictable(is_row, index as u32, 0);
        }
        all
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod x86 {
    use std::arch::x86_64::{
        __m256i, _mm256_add_epi32, _mm256_castps_si256, _mm256_castsi256_ps, _mm256_cmpeq_epi32,
        _mm256_cvtepu8_epi32, _mm256_max_epu32, _mm256_min_epu32, _mm256_movemask_ps,
        _mm256_or_si256, _mm256_permute4x64_epi64, _mm256_permutevar8x32_epi32, _mm256_set1_epi32,
        _mm256_setzero_si256, _mm256_shuffle_ps, _mm256_sub_epi32,
    };

    use super::{Kept, SPARE};
    use crate::index::IndexType;

    /// For each set of eight: its members, the least first.
    static MEMBERS: [[u8; 8]; 256] = {
        let mut members = [[0; 8]; 256];
        let mut set = 0;
        while set < 256 {
            let (mut count, mut bit) = (0, 0);
            while bit < 8 {
                if set >> bit & 1 == 1 {
                    members[set][count] = bit as u8;
                    count += 1;
                }
                bit += 1;
            }
            set += 1;
        }
        members
    };

    impl Kept {
        /// [`Kept::take_each`] for indices of which `last` is the greatest that is a row.
        #[target_feature(enable = "avx2,popcnt")]
        pub(super) fn take_eights(&mut self, of: IndexType, indices: &[u8], last: u32) -> bool {
            let all = |value: usize| _mm256_set1_epi32(value as u32 as i32);
            // As rows are fewer than 2^32, only the low halves of 64 bits tell one from another; the high ones are 0.
            let mut high = _mm256_setzero_si256();
            let mut greatest = _mm256_setzero_si256();
            let first = all(self.wanted.start);
            let last_wanted = all(self.wanted.len() - 1);
            let (kept_rows, kept_numbers) = (&mut self.rows[..], &mut self.numbers[..]);
            let mut kept = 0;
            let mut take = |number: usize, eight: __m256i, asked: usize| {
                greatest = _mm256_max_epu32(greatest, eight);
                let rows = _mm256_sub_epi32(eight, first);
                let is_kept = _mm256_cmpeq_epi32(_mm256_min_epu32(rows, last_wanted), rows);
                let set = _mm256_movemask_ps(_mm256_castsi256_ps(is_kept)) as usize & asked;
                let members = bytemuck::cast(u128::from(u64::from_le_bytes(MEMBERS[set])));
                let members = _mm256_cvtepu8_epi32(members);
                let rows: [u32; 8] = bytemuck::cast(_mm256_permutevar8x32_epi32(rows, members));
                let numbers: [u32; 8] = bytemuck::cast(_mm256_add_epi32(members, all(number)));
                kept_rows[kept..][..SPARE].copy_from_slice(&rows);
                kept_numbers[kept..][..SPARE].copy_from_slice(&numbers);
                kept += set.count_ones() as usize;
            };
            let eight = |bytes: &[u8], high: &mut __m256i| match of.bytes() {
                4 => bytemuck::pod_read_unaligned::<__m256i>(bytes),
                _ => {
                    let [a, b]: [__m256i; 2] = bytemuck::pod_read_unaligned(bytes);
                    let [a, b] = [a, b].map(|half| _mm256_castsi256_ps(half));
                    let halves = _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(a, b));
                    *high = _mm256_or_si256(*high, halves);
                    let low = _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(a, b));
                    _mm256_permute4x64_epi64::<0b11_01_10_00>(low)
                }
            };
            let bytes = 8 * of.bytes();
            let eights = indices.chunks_exact(bytes);
            let rest = eights.remainder();
            let count = eights.len();
            for (n, indices) in eights.enumerate() {
                take(8 * n, eight(indices, &mut high), 0xff);
            }
            if !rest.is_empty() {
                let mut padded = [0; 64];
                padded[..rest.len()].copy_from_slice(rest);
                let asked = (1 << (rest.len() / of.bytes())) - 1;
                take(8 * count, eight(&padded[..bytes], &mut high), asked);
            }
            self.count = kept;
            let is_row = _mm256_cmpeq_epi32(
                _mm256_max_epu32(greatest, all(last as usize)),
                all(last as usize),
            );
            let has_none = _mm256_cmpeq_epi32(high, _mm256_setzero_si256());
            let both = [is_row, has_none].map(|all| _mm256_movemask_ps(_mm256_castsi256_ps(all)));
            both == [0xff; 2]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is kept, by rows and numbers, as the definition has it.
    fn expected(ids: &[i128], wanted: &Range<usize>) -> Vec<(u32, u32)> {
        let numbered = ids.iter().zip(0..);
        let here =
            numbered.filter(|(id, _)| (wanted.start as i128..wanted.end as i128).contains(id));
        here.map(|(id, n)| ((id - wanted.start as i128) as u32, n))
            .collect()
    }

    #[test]
    fn eight_at_once_or_one_by_one_the_same_lookups_are_kept() {
        let bound = 1000;
        let all_ranges = [0..1000, 0..1, 400..700, 999..1000];
        let counts = [0, 1, 7, 8, 9, 63, 100, 511, WINDOW];
        for (of, count) in IndexType::ALL.iter().flat_map(|&t| counts.map(|c| (t, c))) {
            // None of them is a row, not even what lies 2^32 after one; in the middle and at the end.
            let strangers = [
                None,
                Some(1000),
                Some(-1),
                Some(5 << 32),
                Some((1 << 32) - 1),
            ];
            let strangers = strangers
                .into_iter()
                .filter(|s| s.is_none_or(|s| of.holds(s)));
            for (stranger, at) in strangers.flat_map(|s| [(s, count / 2), (s, count.max(1) - 1)]) {
                let id = |n: usize| i128::from((n as u32).wrapping_mul(2_654_435_761)) % 1000;
                let mut ids: Vec<i128> = (0..count).map(id).collect();
                let is_plain = stranger.is_none() || count == 0;
                if let (Some(stranger), Some(id)) = (stranger, ids.get_mut(at)) {
                    *id = stranger;
                }
                let width = of.bytes();
                let bytes: Vec<u8> = ids
                    .iter()
                    .flat_map(|id| id.to_le_bytes()[..width].to_vec())
                    .collect();
                for wanted in all_ranges.clone() {
                    let mut kept = Kept::new(wanted.clone(), count);
                    for take in [Kept::take_keys, Kept::take_each] {
                        assert_eq!(
                            take(&mut kept, of, &bytes, bound),
                            is_plain,
                            "{of:?} {count} {stranger:?}"
                        );
                        if is_plain {
                            assert_eq!(
                                kept.pairs().collect::<Vec<_>>(),
                                expected(&ids, &wanted),
                                "{of:?} {count}"
                            );
                        }
                    }
                }
            }
        }
    }
}
