//! The counts in `docs/testing.md` are those of the files and sources that they are about.
//!
//! `GATHER_RENEW=1` writes them anew.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use gather_conformance::{builtin, read_cases, read_fold_cases, read_quantized_cases};

use crate::documents::{path, read};

const DOCUMENT: &str = "docs/testing.md";

/// A count, and the text that it follows in the document.
struct Count {
    after: String,
    value: usize,
}

impl Count {
    fn new(after: impl Into<String>, value: usize) -> Count {
        let after = after.into();
        Count { after, value }
    }

    /// Where it stands in the text.
    fn place(&self, text: &str) -> Range<usize> {
        let ends = text.match_indices(&self.after).map(|(at, m)| at + m.len());
        let number = |start: usize| {
            let is_digit = |c: char| c.is_ascii_digit() || c == ',';
            let rest = text[start..].trim_start_matches(is_digit);
            start..text.len() - rest.len()
        };
        let found: Vec<_> = ends.map(number).filter(|place| !place.is_empty()).collect();
        let [place] = found.as_slice() else {
            panic!("{DOCUMENT}: {} numbers after {:?}", found.len(), self.after);
        };
        place.clone()
    }
}

/// With commas between thousands.
fn grouped(value: usize) -> String {
    match value / 1000 {
        0 => value.to_string(),
        thousands => format!("{},{:03}", grouped(thousands), value % 1000),
    }
}

/// The number that follows a text in a source.
fn in_source(file: &str, after: &str) -> usize {
    let text = read(file);
    let (_, rest) = text
        .split_once(after)
        .unwrap_or_else(|| panic!("{file} lacks {after:?}"));
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits
        .parse()
        .unwrap_or_else(|_| panic!("{file}: no number after {after:?}"))
}

/// All files of recorded answers.
fn case_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(Result::unwrap);
    let paths = entries.map(|entry| entry.path());
    let mut files: Vec<PathBuf> = paths
        .flat_map(|path| match path.is_dir() {
            true => case_files(&path),
            false => vec![path],
        })
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .collect();
    files.sort();
    files
}

/// The row of a file in the tables of recorded answers.
fn of_cases(file: &Path) -> Count {
    let name = file.file_stem().unwrap().to_str().unwrap();
    let text = fs::read_to_string(file).expect("a file of cases");
    let cases = match file.parent().unwrap().file_name().unwrap().to_str() {
        Some("folds") => read_fold_cases(&text).map(|cases| cases.len()),
        Some("quantized") => read_quantized_cases(&text).map(|cases| cases.len()),
        _ => read_cases(&text).map(|cases| cases.len()),
    };
    let cases = cases.unwrap_or_else(|error| panic!("{name}: {error}"));
    Count::new(format!("\n| `{name}` | "), cases)
}

fn counts() -> Vec<Count> {
    let files = case_files(&path("tests/conformance"));
    assert!(files.len() >= 20, "{files:?}");
    let mut counts: Vec<Count> = files.iter().map(|file| of_cases(file)).collect();
    counts.extend([
        Count::new("`approx`). Besides ", builtin().len()),
        Count::new(
            "how many the tests make\non each adapter (",
            in_source("tests/suite/random.rs", "\"GATHER_LARGE\", "),
        ),
        Count::new(
            "No loop of a kernel takes more than ",
            1 << in_source("src/plan/loop_steps.rs", "MAX_LOOP_STEPS: u32 = 1 << "),
        ),
        Count::new(
            "built-in calls, recorded cases, ",
            in_source("tests/dx12.sh", "${GATHER_RANDOM:-"),
        ),
        Count::new(
            "on the CPU path, Vulkan and GL: random calls (",
            in_source("mpi/tests/suite/calls.rs", "unwrap_or_else(|_| \""),
        ),
        Count::new(
            "on the CPU path, ",
            in_source("mpi/tests/suite/calls.rs", "} else {\n                \""),
        ),
        Count::new(
            "random calls, chains of ",
            in_source(
                "integrations/burn/tests/suite/chains.rs",
                "(steps, chains) = (",
            ),
        ),
    ]);
    counts
}

#[test]
fn the_counts_are_those_of_what_they_are_about() {
    let mut text = read(DOCUMENT);
    let renew = std::env::var_os("GATHER_RENEW").is_some();
    for count in counts() {
        let place = count.place(&text);
        let right = grouped(count.value);
        if renew {
            text.replace_range(place, &right);
        } else {
            let said = &text[place];
            assert_eq!(said, right, "after {:?} (GATHER_RENEW=1)", count.after);
        }
    }
    if renew {
        fs::write(path(DOCUMENT), text).expect("the document is written");
    }
}
