//! What a case gathers from and at: the same bytes on every machine.

use crate::bench::traffic::Traffic;
use anyhow::{Result, bail};
use rand::{Rng, RngExt, SeedableRng};
use rand_distr::{Distribution, Zipf};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;
use wgpu_gather::plan::Geometry;
use wgpu_gather::{Error, IndexType, Indices, Layout, Role};

use crate::bench::case::Scaled;
use crate::bench::order::Order;

/// Bytes of params, and lookups, that are drawn from one seed.
const CHUNK: usize = 1 << 20;
/// More indices than this are not counted one by one if they are uniformly random.
const COUNTED: usize = 4 << 20;
const ZIPF_EXPONENT: f64 = 1.05;

/// The tensors of one case.
pub(crate) struct Inputs {
    pub(crate) params: Vec<u8>,
    pub(crate) indices: Vec<u8>,
    /// What these indices make the gather move.
    pub(crate) traffic: Traffic,
}

impl Inputs {
    /// The tensors of `scaled`.
    pub(crate) fn new(scaled: &Scaled) -> Result<Self> {
        let mut params = memory(Role::Params, scaled.params_bytes())?;
        let chunks = params.par_chunks_mut(CHUNK).enumerate();
        chunks.for_each(|(n, chunk)| generator(0, n).fill_bytes(chunk));
        let indices = draw(scaled, 0)?;
        let traffic = traffic(scaled, &indices)?;
        Ok(Inputs {
            params,
            indices,
            traffic,
        })
    }
}

/// What the gather moves: counted, or expected where there are so many random lookups that it is
/// the same and counting takes its time.
fn traffic(scaled: &Scaled, indices: &[u8]) -> Result<Traffic> {
    let case = &scaled.case;
    let lookups = indices.len() / case.index_type.bytes();
    if case.order == Order::Random && case.bad == 0.0 && lookups > COUNTED {
        return Ok(Traffic::uniform(&scaled.plan));
    }
    let layout = Layout::contiguous(&case.indices);
    let indices = Indices::new(indices, case.index_type, layout)?;
    Traffic::counted(&scaled.plan, &indices)
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

fn generator(stream: u64, chunk: usize) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64((stream << 40) | chunk as u64)
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
    order: Order,
    zipf: Option<Zipf<f64>>,
    bad: f64,
    index_type: IndexType,
    extents: Vec<u64>,
    /// How many slices a lookup selects from.
    slices: u64,
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
        let zipf = match scaled.case.order {
            Order::Zipf => Some(Zipf::new(slices as f64, ZIPF_EXPONENT)?),
            _ => None,
        };
        let (run, step) = run(geometry);
        Ok(Draws {
            order: scaled.case.order,
            zipf,
            bad: scaled.case.bad,
            index_type: scaled.case.index_type,
            extents,
            slices,
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
        for (k, bytes) in tuple.chunks_exact_mut(width).enumerate().rev() {
            let extent = self.extents[k].max(1);
            let good = slice % extent;
            slice /= extent;
            let value = bad.filter(|&(bad, _)| bad == k).map_or(good, |(_, v)| v);
            match self.index_type {
                IndexType::I32 => put(bytes, (value.min(i32::MAX as u64) as i32).to_ne_bytes()),
                IndexType::U32 => put(bytes, (value.min(u32::MAX.into()) as u32).to_ne_bytes()),
                IndexType::I64 | IndexType::U64 => put(bytes, value.to_ne_bytes()),
            }
        }
    }

    /// Which slice a lookup selects.
    fn slice(&self, lookup: u64, random: &mut impl Rng) -> u64 {
        match (self.order, &self.zipf) {
            (Order::Zipf, Some(zipf)) => (zipf.sample(random) as u64 - 1).min(self.slices - 1),
            (Order::Same, _) => self.slices / 2,
            (Order::Sorted, _) => {
                // One draw out of each of as many equal parts as there are lookups.
                let part = (lookup / self.step % self.run) as f64 + random.random::<f64>();
                let slice = part / self.run as f64 * self.slices as f64;
                (slice as u64).min(self.slices - 1)
            }
            _ => random.random_range(0..self.slices),
        }
    }
}

fn put<const N: usize>(place: &mut [u8], bytes: [u8; N]) {
    place.copy_from_slice(&bytes);
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
    fn orders_are_what_they_are_called() {
        let drawn = |order| values(&inputs("dlrm", 1000, |case| case.order = order).1);
        let random = drawn(Order::Random);
        assert!(!random.is_sorted() && random.iter().all(|v| (0..10_000).contains(v)));
        assert!(drawn(Order::Sorted).is_sorted());
        assert!(drawn(Order::Same).iter().all(|&v| v == 5000));
        let zipf = drawn(Order::Zipf);
        let small = zipf.iter().filter(|&&v| v < 10).count();
        assert!(small * 10 > zipf.len() && *zipf.iter().max().unwrap() > 1000);
    }

    #[test]
    fn sorted_lookups_are_sorted_in_each_region() {
        let (_, rows) = inputs("dense-columns", 1024, |case| case.order = Order::Sorted);
        assert!(values(&rows).chunks(8192).all(<[i32]>::is_sorted));
        let (_, columns) = inputs("dense-rows", 1024, |case| case.order = Order::Sorted);
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
