//! What waves ask of memory: the figures of the traffic table, at the size of a case.
//!
//! `traffic.csv` is written by `tests/sanitizer.sh renew`: calls in the shapes of the cases, small, and for each
//! binding of each of their pipelines the bytes of the sectors that waves of 32 and of 64 ask for. They grow with
//! the number of lookups. A case has figures where a call of the table has its verb, its rows and its pattern.

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use wgpu_gather::{DType, Op, OutOfBounds, Reduce, ScatterExplanation};

use crate::bench::case::Scaled;
use crate::bench::pattern::Pattern;
use crate::bench::verb::Verb;

const TABLE: &str = include_str!("traffic.csv");

/// The calls whose sorts stand for those of all scatters, as a sort knows nothing of rows: of few lookups in
/// one dispatch, and of many.
const SORTS: [&str; 2] = ["add rows of 256 bytes", "add single f32"];
/// The digits of the second.
const SORT_DIGITS: u64 = 2;
/// Elements of a quantised row there.
const QUANTIZED: usize = 256;
/// Bytes of an index in most calls of the table.
const INDEX: u64 = 4;

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
        let lookups = scaled.lookups() as u64;
        let index = scaled.case.index_type.bytes() as u64;
        let mut bytes = asked(&lines, index, lookups, |line| (!line.sorts).then_some(1.0))?;
        if let Some(scatter) = scaled.scatter()? {
            let copied = match scaled.case.verb {
                Verb::Scatter(_) => 2 * scaled.params_bytes() as u64,
                _ => 0,
            };
            let sort = sort(&scatter, pattern, lookups)?;
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

/// What the keys of a scatter and their sort ask for.
fn sort(scatter: &ScatterExplanation, pattern: &str, lookups: u64) -> Result<[u64; 2]> {
    let one_dispatch = scatter.sort_dispatches == 1;
    let lines = lines(SORTS[usize::from(!one_dispatch)], pattern)?;
    let digits = scatter.sort_digits as f64 / SORT_DIGITS as f64;
    asked(&lines, INDEX, lookups, |line| {
        let times = match line.dispatches {
            SORT_DIGITS => digits,
            _ => 1.0,
        };
        line.sorts.then_some(times)
    })
}

/// The bytes of the lines that `times` wants, so many times each, at that number of lookups; of indices of
/// `index` bytes.
fn asked(
    lines: &[Line],
    index: u64,
    lookups: u64,
    times: impl Fn(&Line) -> Option<f64>,
) -> Result<[u64; 2]> {
    let indices = lines.iter().find(|line| line.binding == "indices");
    let indices = indices.context("a call without indices")?.loaded / index;
    let more = lookups as f64 / indices as f64;
    Ok([0, 1].map(|wave| {
        let wanted = lines
            .iter()
            .filter_map(|line| Some(times(line)? * line.sectors[wave] as f64));
        (wanted.sum::<f64>() * more).round() as u64
    }))
}

/// The name that the call of the table with the verb and the rows of this case would have.
fn call(scaled: &Scaled) -> Option<String> {
    let case = &scaled.case;
    let wide = case.index_type.bytes() as u64 != INDEX;
    let rows = match case.op {
        Op::Gather { axis, batch_dims } => axis.unwrap_or(0) == 0 && batch_dims == 0,
        _ => false,
    };
    let zeros = scaled.rules.out_of_bounds == OutOfBounds::Zero;
    let errors = case.verb == Verb::Gather && scaled.rules.out_of_bounds == OutOfBounds::Error;
    if case.bad > 0.0 || !rows || !(zeros || errors) {
        return None;
    }
    let gathers = case.verb == Verb::Gather && case.format.is_none() && zeros;
    if wide && !gathers {
        return None;
    }
    let elements = case.params.iter().skip(1).product::<usize>();
    let bytes = elements * case.dtype.bytes();
    if let Some(format) = case.format {
        let gather = case.verb == Verb::Gather && elements == QUANTIZED && zeros;
        return gather.then(|| format!("{format} to {}", case.dtype));
    }
    let of_bytes = match bytes {
        1 => "1 byte".to_owned(),
        bytes => format!("{bytes} bytes"),
    };
    let of_elements = match case.dtype {
        DType::F32 => of_bytes.clone(),
        DType::I8 => format!("{elements} bytes of i8"),
        dtype => format!("{elements} {dtype}"),
    };
    Some(match case.verb {
        Verb::Gather if errors => format!("rows of {of_bytes}, errors"),
        Verb::Gather if wide => format!("rows of {of_bytes}, i64"),
        Verb::Gather => format!("rows of {of_bytes}"),
        Verb::SumBags => format!("bags of {} rows of {of_elements}", case.indices.last()?),
        Verb::Scatter(reduce) | Verb::ScatterInto(reduce) => match (reduce, elements) {
            (Reduce::Add, 1) => format!("add single {}", case.dtype),
            (Reduce::Add, _) => format!("add rows of {of_elements}"),
            (Reduce::None, 1) => format!("replace single {}", case.dtype),
            (Reduce::None, _) => format!("replace rows of {of_bytes}"),
            (other, _) => format!("{other} of rows of {of_elements}"),
        },
    })
}

/// The pattern of the case by its name in the table, if it has it.
fn pattern(scaled: &Scaled) -> Option<&'static str> {
    let pattern = scaled.case.pattern;
    let known = [
        Pattern::Random,
        Pattern::Sorted,
        Pattern::Zipf,
        Pattern::Same,
    ];
    known.contains(&pattern).then(|| pattern.name())
}

/// A binding of a pipeline in a call of the table.
struct Line {
    /// Whether the pipeline makes keys or sorts them.
    sorts: bool,
    dispatches: u64,
    binding: &'static str,
    /// Bytes that have to be loaded.
    loaded: u64,
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
        let &[loaded, load_32, load_64, _, store_32, store_64] = &bytes[..] else {
            bail!("a line of the traffic table has {} figures", bytes.len());
        };
        Ok(Line {
            sorts: ["keys", "sort"]
                .iter()
                .any(|sort| pipeline.starts_with(sort)),
            dispatches: dispatches.parse()?,
            binding,
            loaded,
            sectors: [load_32 + store_32, load_64 + store_64],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::case::Case;
    use crate::bench::cases;
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
        // 8,192 lookups in the table; beside two digits, a pair is made once.
        let [two, three] = [rows(60_000, 8192), rows(16_000_000, 8192)].map(|a| a.bytes_32);
        let digit = (16_384 + 8228 + 2048 + 8192 + 131_168 + 131_072 + 170_368 + 10_240) / 2;
        assert!((three - two).abs_diff(digit) < 8, "{}", three - two);
        // Few lookups are sorted in one dispatch, which asks for less.
        let few = rows(60_000, 2048).bytes_32;
        assert!(few * 4 < two, "{few}, {two}");
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
        ] {
            let found = asked_of(name, |_| (), zeros).unwrap_or_else(|| panic!("{name}"));
            assert_eq!(found.call, call);
            let sorted = |case: &mut Case| case.pattern = Pattern::Sorted;
            assert_eq!(asked_of(name, sorted, zeros).unwrap().call, call);
        }
    }

    #[test]
    fn every_case_of_rows_has_figures() {
        let zeros = &Rules::TENSORFLOW_GPU;
        // Other operators, bad indices, and tables whose quantized rows have another length.
        let others = [
            "kv-beam",
            "beam-ids",
            "top-k",
            "dense-columns",
            "dense-rows",
            "voxel",
            "voxel-rows",
            "pixels",
            "axis-1",
            "axis-1-rows",
            "rows-bad-25",
            "single-bad-25",
            "prompt-q8_0",
            "prompt-q4_0",
            "bags-of-32-q8_0",
            "bags-of-32-q4_0",
        ];
        let all = cases::all().into_iter().map(|case| case.name);
        let without = all.filter(|name| asked_of(name, |_| (), zeros).is_none());
        assert_eq!(without.collect::<Vec<_>>(), others);
    }

    #[test]
    fn a_call_that_the_table_does_not_have_has_no_figure() {
        let window = |case: &mut Case| case.pattern = Pattern::Window;
        assert_eq!(asked_of("dlrm", window, &Rules::TENSORFLOW_GPU), None);
        assert_eq!(asked_of("dlrm", |_| (), &Rules::NUMPY_WRAP), None);
    }
}
