//! The tensors of a case: the same bytes on every machine.

use anyhow::{Result, bail};
use rand::{Rng, RngExt};
use rand_distr::{Distribution, Zipf};
use rayon::prelude::*;
use wgpu_gather::plan::Geometry;
use wgpu_gather::{Error, IndexType, Indices, Layout, Role};

use crate::bench::case::Scaled;
use crate::bench::moved;
use crate::bench::pattern::Pattern;
use crate::bench::traffic::Traffic;
use crate::bench::values::{CHUNK, Values, generator};

/// More indices than this are not counted one by one if they are uniformly random.
const COUNTED: usize = 4 << 20;
/// The stream of updates: those of params and of sets of indices come before.
const UPDATES: u64 = 1 << 16;
const ZIPF_EXPONENT: f64 = 1.05;
/// Slices that are near each other.
const WINDOW: u64 = 1024;

/// The tensors of one case.
pub(crate) struct Inputs {
    pub(crate) params: Vec<u8>,
    pub(crate) indices: Vec<u8>,
    /// Of a scatter, else empty.
    pub(crate) updates: Vec<u8>,
    /// What these indices make the call move.
    pub(crate) traffic: Traffic,
}

impl Inputs {
    /// The tensors of `scaled`.
    pub(crate) fn new(scaled: &Scaled) -> Result<Self> {
        let case = &scaled.case;
        let values = Values::of(case)?;
        let mut params = memory(Role::Params, scaled.params_bytes())?;
        values.fill(0, &mut params);
        let mut updates = memory(Role::Updates, scaled.updates_bytes())?;
        values.fill(UPDATES, &mut updates);
        let indices = draw(scaled, 0)?;
        let traffic = traffic(scaled, &indices)?;
        Ok(Inputs {
            params,
            indices,
            updates,
            traffic,
        })
    }
}

/// What the call moves: counted, or expected where there are so many random lookups that it is
/// the same and counting takes its time.
fn traffic(scaled: &Scaled, indices: &[u8]) -> Result<Traffic> {
    let case = &scaled.case;
    let lookups = indices.len() / case.index_type.bytes();
    if case.pattern == Pattern::Random && case.bad == 0.0 && lookups > COUNTED {
        return moved::expected(scaled);
    }
    let layout = Layout::contiguous(&case.indices);
    let indices = Indices::new(indices, case.index_type, layout)?;
    moved::counted(scaled, &indices)
}

/// Memory for `bytes` bytes. Where the system says how much it has left, more than that is an
/// error and not the end of the process.
pub(crate) fn memory(role: Role, bytes: usize) -> Result<Vec<u8>> {
    let fits = available().is_none_or(|available| (bytes as u64) < available / 10 * 9);
    let memory = fits.then(|| bytemuck::allocation::try_zeroed_vec(bytes));
    match memory {
        Some(Ok(memory)) => Ok(memory),
        _ => bail!(Error::HostOutOfMemory { role, bytes }),
    }
}

/// The bytes that programs can still have, on Linux.
fn available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|l| l.starts_with("MemAvailable:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// The indices, as bytes of their type; each number of a set is another draw.
pub(crate) fn draw(scaled: &Scaled, set: u64) -> Result<Vec<u8>> {
    let draws = Draws::new(scaled)?;
    let mut bytes = memory(Role::Indices, scaled.indices_bytes())?;
    let (width, depth) = (scaled.case.index_type.bytes(), draws.extents.len());
    if depth > 0 {
        let chunks = bytes.par_chunks_mut(CHUNK * width * depth).enumerate();
        chunks.for_each(|(n, chunk)| {
            let mut random = generator(1 + set, n);
            let tuples = chunk.chunks_exact_mut(width * depth);
            for (lookup, tuple) in (n * CHUNK..).zip(tuples) {
                draws.write(lookup, &mut random, tuple);
            }
        });
    }
    Ok(bytes)
}

/// How the lookups of a case are drawn.
struct Draws {
    pattern: Pattern,
    zipf: Option<Zipf<f64>>,
    bad: f64,
    index_type: IndexType,
    extents: Vec<u64>,
    /// How many slices a lookup selects from.
    slices: u64,
    /// Neighbouring lookups that share an index where it is expanded.
    row: u64,
    /// Lookups in one region of params, and the distance between two of them.
    run: u64,
    step: u64,
}

impl Draws {
    fn new(scaled: &Scaled) -> Result<Self> {
        let geometry = scaled.plan.geometry();
        let extents = geometry.coordinates.iter().map(|c| c.extent as u64);
        let extents: Vec<u64> = extents.collect();
        let slices = extents.iter().product::<u64>().max(1);
        let zipf = match scaled.case.pattern {
            Pattern::Zipf => Some(Zipf::new(slices as f64, ZIPF_EXPONENT)?),
            _ => None,
        };
        let (run, step) = run(geometry);
        let row = row(&scaled.case.indices, extents.len());
        Ok(Draws {
            pattern: scaled.case.pattern,
            zipf,
            bad: scaled.case.bad,
            index_type: scaled.case.index_type,
            extents,
            slices,
            row,
            run,
            step,
        })
    }

    /// Writes the tuple of lookup number `lookup`, in row-major order of indices.
    fn write(&self, lookup: usize, random: &mut impl Rng, tuple: &mut [u8]) {
        let mut slice = self.slice(lookup as u64, random);
        let depth = self.extents.len();
        let bad = (self.bad > 0.0 && random.random_bool(self.bad)).then(|| {
            let k = random.random_range(0..depth);
            (
                k,
                self.extents[k] + random.random_range(0..self.extents[k].max(1)),
            )
        });
        let width = self.index_type.bytes();
        let value_bits = 8 * width as u32 - u32::from(self.index_type.is_signed());
        let greatest = u64::MAX >> (64 - value_bits);
        for (k, bytes) in tuple.chunks_exact_mut(width).enumerate().rev() {
            let extent = self.extents[k].max(1);
            let good = slice % extent;
            slice /= extent;
            let value = bad.filter(|&(bad, _)| bad == k).map_or(good, |(_, v)| v);
            let value = value.min(greatest);
            bytes.copy_from_slice(&value.to_le_bytes()[..width]);
        }
    }

    /// Where a lookup stands among those that go into the same region of params.
    fn position(&self, lookup: u64) -> u64 {
        lookup / self.step % self.run
    }

    /// The slice as far through the region as `part` is through its lookups.
    fn part(&self, part: f64) -> u64 {
        let slice = part / self.run as f64 * self.slices as f64;
        (slice as u64).min(self.slices - 1)
    }

    /// Which slice a lookup selects.
    fn slice(&self, lookup: u64, random: &mut impl Rng) -> u64 {
        match (self.pattern, &self.zipf) {
            (Pattern::Zipf, Some(zipf)) => (zipf.sample(random) as u64 - 1).min(self.slices - 1),
            (Pattern::Same, _) => self.slices / 2,
            (Pattern::Sorted, _) => {
                // One draw out of each of as many equal parts as there are lookups.
                let part = self.position(lookup) as f64 + random.random::<f64>();
                self.part(part)
            }
            (Pattern::Permutation, _) => permuted(self.position(lookup) % self.slices, self.slices),
            (Pattern::Window, _) => {
                let first = self
                    .part(self.position(lookup) as f64)
                    .saturating_sub(WINDOW / 2);
                let last = (first + WINDOW).min(self.slices);
                random.random_range(last.saturating_sub(WINDOW)..last)
            }
            (Pattern::Expanded, _) => {
                let row = (lookup / self.row) as usize;
                generator(0, row).random_range(0..self.slices)
            }
            _ => random.random_range(0..self.slices),
        }
    }
}

/// The value at `position` of a permutation of 0..count: a few rounds of a Feistel network, again
/// where they lead beyond.
fn permuted(position: u64, count: u64) -> u64 {
    let half = (u64::BITS - (count - 1).leading_zeros()).div_ceil(2).max(1);
    let mask = (1 << half) - 1;
    let round = |(left, right): (u64, u64), key: u64| {
        let mixed = (right ^ key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (right, left ^ (mixed >> 32 & mask))
    };
    let mut value = position;
    loop {
        let (left, right) = (1..5).fold((value >> half, value & mask), round);
        value = left << half | right;
        if value < count {
            return value;
        }
    }
}

/// How many neighbouring lookups make a row of indices; of indices of one dim, so many are taken for
/// one.
fn row(indices: &[usize], depth: usize) -> u64 {
    let lookups = match depth {
        0 | 1 => indices,
        _ => &indices[..indices.len() - 1],
    };
    match lookups {
        [] | [_] => 16,
        [.., last] => (*last as u64).max(1),
    }
}

/// How many lookups go into one region of params, and how far apart they lie, in lookups.
fn run(geometry: &Geometry) -> (u64, u64) {
    let loops = geometry.row_loops().iter();
    let positions = loops.filter(|l| l.params_stride == 0 && l.indices_stride != 0);
    let depth = geometry.coordinates.len().max(1) as u64;
    positions.fold((1, 1), |(run, _), l| {
        let step = l.indices_stride.unsigned_abs() as u64 / depth;
        (run * l.extent as u64, step.max(1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::cases;
    use wgpu_gather::Rules;

    fn inputs(
        name: &str,
        scale: usize,
        change: impl Fn(&mut crate::bench::case::Case),
    ) -> (Scaled, Inputs) {
        let found = cases::all().into_iter().find(|c| c.name == name);
        let mut case = found.expect("a case of that name");
        change(&mut case);
        let scaled = case.scaled(scale, &Rules::default()).unwrap();
        let inputs = Inputs::new(&scaled).unwrap();
        (scaled, inputs)
    }

    fn values(inputs: &Inputs) -> Vec<i32> {
        bytemuck::pod_collect_to_vec(&inputs.indices)
    }

    #[test]
    fn the_same_case_has_the_same_bytes() {
        let [(_, first), (_, second)] = [0, 1].map(|_| inputs("voxel", 1024, |_| ()));
        assert!(first.params == second.params && first.indices == second.indices);
        assert_ne!(first.params[..64], first.params[64..128]);
    }

    #[test]
    fn patterns_are_what_they_are_called() {
        let drawn = |pattern| values(&inputs("dlrm", 1000, |case| case.pattern = pattern).1);
        let random = drawn(Pattern::Random);
        assert!(!random.is_sorted() && random.iter().all(|v| (0..10_000).contains(v)));
        assert!(drawn(Pattern::Sorted).is_sorted());
        assert!(drawn(Pattern::Same).iter().all(|&v| v == 5000));
        let zipf = drawn(Pattern::Zipf);
        let small = zipf.iter().filter(|&&v| v < 10).count();
        assert!(small * 10 > zipf.len() && *zipf.iter().max().unwrap() > 1000);
    }

    #[test]
    fn a_permutation_has_each_slice_once() {
        for count in [1u64, 2, 3, 5, 64, 1000, 4097] {
            let mut all: Vec<u64> = (0..count).map(|n| permuted(n, count)).collect();
            assert!(count < 64 || !all.is_sorted());
            all.sort_unstable();
            assert!(all.into_iter().eq(0..count), "{count}");
        }
    }

    #[test]
    fn neighbours_are_near_or_agree() {
        let (_, window) = inputs("dlrm", 100, |case| case.pattern = Pattern::Window);
        let window = values(&window);
        assert!(
            window
                .windows(2)
                .all(|w| w[0].abs_diff(w[1]) < 2 * WINDOW as u32)
        );
        assert!(!window.is_sorted() && window.iter().max() > Some(&90_000));
        // One index for each row of indices, as long as they are.
        let expanded = |name| inputs(name, 1024, |case| case.pattern = Pattern::Expanded);
        let (scaled, rows) = expanded("dense-rows");
        let row = *scaled.case.indices.last().unwrap();
        let rows = values(&rows);
        assert!(rows.chunks(row).all(|row| row.iter().all(|v| *v == row[0])));
        assert!(rows.chunks(row).any(|other| other[0] != rows[0]));
    }

    #[test]
    fn sorted_lookups_are_sorted_in_each_region() {
        let (_, rows) = inputs("dense-columns", 1024, |case| case.pattern = Pattern::Sorted);
        assert!(values(&rows).chunks(8192).all(<[i32]>::is_sorted));
        let (_, columns) = inputs("dense-rows", 1024, |case| case.pattern = Pattern::Sorted);
        let columns = values(&columns);
        assert!((0..8).all(|c| columns.iter().skip(c).step_by(8).is_sorted()));
    }

    #[test]
    fn a_quarter_is_a_quarter() {
        let (scaled, inputs) = inputs("rows-bad-25", 64, |_| ());
        let extent = scaled.case.params[0] as i32;
        let values = values(&inputs);
        let bad = values.iter().filter(|&&v| v >= extent).count() as f64;
        assert!((0.23..0.27).contains(&(bad / values.len() as f64)), "{bad}");
        assert!(inputs.traffic.params < Traffic::uniform(&scaled.plan).params);
    }
}
