//! What waves ask of memory: the figures of the traffic table, at the size of a case.
//!
//! `traffic.csv` is written by `tests/sanitizer.sh renew`: calls in the shapes of the cases, small, and for each
//! binding of each of their pipelines the bytes of the sectors that waves of 32 and of 64 ask for. They grow with
//! the output of a gather, and with the lookups of others. A case has figures where a call of the table has its
//! verb, its operator, its rows and its pattern.

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use wgpu_gather::ScatterExplanation;

use crate::bench::case::Scaled;
use crate::bench::table_call::{call, pattern};
use crate::bench::verb::Verb;

const TABLE: &str = include_str!("traffic.csv");

/// The calls whose sorts stand for those of all scatters, as a sort knows nothing of rows: of few lookups in
/// one dispatch, of more in two for each digit, and of many in three.
const SORTS: [&str; 3] = [
    "add rows of 256 bytes",
    "add rows of 16 bytes",
    "add single f32",
];
/// The digits of all but the first.
const SORT_DIGITS: u64 = 2;

/// Bytes that the waves of a case ask for, those of whole sectors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Asked {
    /// The call of the table.
    pub(crate) call: String,
    /// In waves of 32 invocations.
    pub(crate) bytes_32: u64,
    /// In waves of 64.
    pub(crate) bytes_64: u64,
    /// Their speeds in parts of that of the copy.
    pub(crate) fraction_32: f64,
    pub(crate) fraction_64: f64,
}

impl Asked {
    /// The figures of a case, if the table has them; not timed yet.
    pub(crate) fn of(scaled: &Scaled) -> Result<Option<Self>> {
        let (Some(call), Some(pattern)) = (call(scaled), pattern(scaled)) else {
            return Ok(None);
        };
        let lines = lines(&call, pattern)?;
        if lines.is_empty() {
            return Ok(None);
        }
        let indices = ("indices", scaled.indices_bytes() as u64);
        // Along an axis that is not the first, an index makes several rows of the output.
        let size = match scaled.case.verb {
            Verb::Gather => ("output", scaled.output_bytes() as u64),
            Verb::Scatter(_) | Verb::ScatterInto(_) | Verb::SumBags => indices,
        };
        let mut bytes = asked(&lines, size, |line| (!line.sorts).then_some(1.0))?;
        if let Some(scatter) = scaled.scatter()? {
            let copied = match scaled.case.verb {
                Verb::Scatter(_) => 2 * scaled.params_bytes() as u64,
                _ => 0,
            };
            let sort = sort(&scatter, pattern, indices)?;
            bytes = [0, 1].map(|wave| bytes[wave] + sort[wave] + copied);
        }
        let [bytes_32, bytes_64] = bytes;
        Ok(Some(Asked {
            call,
            bytes_32,
            bytes_64,
            fraction_32: 0.0,
            fraction_64: 0.0,
        }))
    }

    /// With its speeds, which `of_copy` gives.
    pub(crate) fn held_against(self, of_copy: impl Fn(u64) -> f64) -> Self {
        Asked {
            fraction_32: of_copy(self.bytes_32),
            fraction_64: of_copy(self.bytes_64),
            ..self
        }
    }
}

/// What the keys of a scatter and their sort ask for, of indices of so many bytes.
fn sort(scatter: &ScatterExplanation, pattern: &str, indices: (&str, u64)) -> Result<[u64; 2]> {
    let stands_for = match scatter.sort_dispatches {
        1 => SORTS[0],
        more if more <= 1 + 2 * scatter.sort_digits => SORTS[1],
        _ => SORTS[2],
    };
    let lines = lines(stands_for, pattern)?;
    let digits = scatter.sort_digits as f64 / SORT_DIGITS as f64;
    asked(&lines, indices, |line| {
        let times = match line.dispatches {
            SORT_DIGITS => digits,
            _ => 1.0,
        };
        line.sorts.then_some(times)
    })
}

/// The bytes of the lines that `times` wants, so many times each, where so many bytes have to be moved over a
/// binding.
fn asked(
    lines: &[Line],
    (binding, bytes): (&str, u64),
    times: impl Fn(&Line) -> Option<f64>,
) -> Result<[u64; 2]> {
    let line = lines.iter().find(|line| line.binding == binding);
    let line = line.with_context(|| format!("a call without {binding}"))?;
    let more = bytes as f64 / line.moved as f64;
    Ok([0, 1].map(|wave| {
        let wanted = lines
            .iter()
            .filter_map(|line| Some(times(line)? * line.sectors[wave] as f64));
        (wanted.sum::<f64>() * more).round() as u64
    }))
}

/// A binding of a pipeline in a call of the table.
struct Line {
    /// Whether the pipeline makes keys or sorts them.
    sorts: bool,
    dispatches: u64,
    binding: &'static str,
    /// Bytes that have to be loaded or stored.
    moved: u64,
    /// Bytes of the sectors that waves of 32 and of 64 load and store.
    sectors: [u64; 2],
}

/// The lines of a call of the table.
fn lines(call: &str, pattern: &str) -> Result<Vec<Line>> {
    let all = TABLE.lines().skip(1).map(|line| line.split(';').collect());
    let wanted = all.filter(|cells: &Vec<&str>| cells[..2] == [call, pattern]);
    wanted.map(|cells| Line::read(&cells)).collect()
}

impl Line {
    fn read(cells: &[&'static str]) -> Result<Self> {
        let &[_, _, pipeline, dispatches, _, _, binding, ref bytes @ ..] = cells else {
            bail!("a line of the traffic table has {} cells", cells.len());
        };
        let bytes: Vec<u64> = bytes.iter().map(|n| n.parse()).collect::<Result<_, _>>()?;
        let &[loaded, load_32, load_64, stored, store_32, store_64] = &bytes[..] else {
            bail!("a line of the traffic table has {} figures", bytes.len());
        };
        Ok(Line {
            sorts: ["keys", "sort"]
                .iter()
                .any(|sort| pipeline.starts_with(sort)),
            dispatches: dispatches.parse()?,
            binding,
            moved: loaded + stored,
            sectors: [load_32 + store_32, load_64 + store_64],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::case::Case;
    use crate::bench::cases;
    use crate::bench::pattern::Pattern;
    use wgpu_gather::Rules;

    fn asked_of(name: &str, change: impl Fn(&mut Case), rules: &Rules) -> Option<Asked> {
        let mut case = cases::all().into_iter().find(|c| c.name == name).unwrap();
        change(&mut case);
        Asked::of(&case.scaled(1, rules).unwrap()).unwrap()
    }

    #[test]
    fn a_gather_asks_for_what_the_table_says_at_its_size() {
        let zeros = &Rules::TENSORFLOW_GPU;
        let dlrm = asked_of("dlrm", |_| (), zeros).unwrap();
        assert_eq!(dlrm.call, "rows of 256 bytes");
        // 1,024 lookups in the table: indices, output and params.
        let lookups = 2 << 20;
        assert_eq!(dlrm.bytes_32, (4096 + 262_144 + 261_376) * lookups / 1024);
        assert_eq!(dlrm.bytes_64, (4096 + 262_144 + 260_864) * lookups / 1024);
        let errors = asked_of("dlrm", |_| (), &Rules::TORCH).unwrap();
        assert!(errors.bytes_32 > dlrm.bytes_32 && errors.call.ends_with(", errors"));
        let held = dlrm.held_against(|bytes| bytes as f64);
        assert_eq!(held.fraction_64, held.bytes_64 as f64);
    }

    #[test]
    fn a_sort_asks_for_its_own_digits() {
        let zeros = &Rules::TENSORFLOW_GPU;
        let rows = |rows: usize, lookups: usize| {
            let change = move |case: &mut Case| {
                (case.params[0], case.indices[0]) = (rows, lookups);
            };
            asked_of("add-1", change, zeros).unwrap()
        };
        // 4,096 and 36,864 lookups in the table; beside two digits, a pair is made once.
        let few = 4160 + 65_568 + 81_920 + 65_536 + 83_200;
        let many = 73_728 + 36_896 + 4608 + 36_864 + 590_368 + 82_944 + 589_824 + 810_368;
        for (lookups, two_digits) in [(4096, few), (36_864, many)] {
            let [two, three] = [60_000, 16_000_000].map(|n| rows(n, lookups).bytes_32);
            let digit = two_digits / 2;
            assert!((three - two).abs_diff(digit) < 8, "{}", three - two);
        }
        // The fewest are sorted in one dispatch, which asks for less.
        let [one_tile, two_tiles] = [2048, 4096].map(|lookups| rows(60_000, lookups).bytes_32);
        assert!(one_tile * 2 < two_tiles, "{one_tile}, {two_tiles}");
    }

    #[test]
    fn the_verbs_of_the_table_are_found() {
        let zeros = &Rules::TENSORFLOW_GPU;
        for (name, call) in [
            ("add-768", "add rows of 3072 bytes"),
            ("add-4", "add rows of 16 bytes"),
            ("add-64-bf16", "add rows of 64 bf16"),
            ("add-64-i8", "add rows of 64 bytes of i8"),
            ("none-64", "replace rows of 256 bytes"),
            ("max-75", "max of rows of 300 bytes"),
            ("bags-of-32-64", "bags of 32 rows of 256 bytes"),
            ("bags-of-8-bf16", "bags of 8 rows of 64 bf16"),
            ("bags-of-1", "bags of 1 rows of 256 bytes"),
            ("sort-8", "replace single f32"),
            ("add-256", "add rows of 1024 bytes"),
            ("llm-prefill", "rows of 8192 bytes"),
            ("dlrm-i64", "rows of 256 bytes, i64"),
            ("kv-beam", "rows of 524288 bytes of each batch"),
            ("top-k", "64 elements of each row, i64"),
            ("dense-rows", "elements of each column"),
            ("voxel-rows", "rows of 64 bytes at 3 coordinates"),
            ("pixels", "rows of 3 bytes at 2 coordinates of each batch"),
            ("axis-1-rows", "rows of 16 bytes along axis 1"),
            ("rows-bad-25", "rows of 512 bytes, a quarter bad"),
            ("prompt-q8_0", "rows of 896 Q8_0 to f32"),
            ("bags-of-32-q4_0", "bags of 32 rows of 64 Q4_0"),
        ] {
            let found = asked_of(name, |_| (), zeros).unwrap_or_else(|| panic!("{name}"));
            assert_eq!(found.call, call);
            let sorted = |case: &mut Case| case.pattern = Pattern::Sorted;
            assert_eq!(asked_of(name, sorted, zeros).unwrap().call, call);
        }
    }

    #[test]
    fn every_case_has_figures() {
        for case in cases::all() {
            let asked = asked_of(&case.name, |_| (), &Rules::TENSORFLOW_GPU);
            assert!(asked.is_some(), "{}", case.name);
        }
    }

    #[test]
    fn an_index_that_makes_several_rows_asks_for_all_of_them() {
        let of_columns = |columns: usize| {
            let change = move |case: &mut Case| case.params[0] = columns;
            asked_of("axis-1", change, &Rules::TENSORFLOW_GPU).unwrap()
        };
        let [one, two] = [1024, 2048].map(|columns| of_columns(columns).bytes_32);
        assert_eq!(two, 2 * one);
    }

    #[test]
    fn a_call_that_the_table_does_not_have_has_no_figure() {
        let window = |case: &mut Case| case.pattern = Pattern::Window;
        assert_eq!(asked_of("dlrm", window, &Rules::TENSORFLOW_GPU), None);
        assert_eq!(asked_of("dlrm", |_| (), &Rules::NUMPY_WRAP), None);
    }
}
