//! The texts of the repository name what there is.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use wgpu_gather::Op;

/// A path in the repository.
pub(crate) fn path(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

pub(crate) fn read(file: &str) -> String {
    fs::read_to_string(path(file)).unwrap_or_else(|e| panic!("{file}: {e}"))
}

/// The names of the dependencies that no feature turns on.
fn needed(manifest: &str) -> Vec<&str> {
    let tables = manifest.split("\n[").filter(|table| {
        let name = table.lines().next().unwrap_or_default();
        name.ends_with("dependencies]") && !name.contains("dev-") && !name.contains("workspace")
    });
    let names = tables.flat_map(|table| table.lines().skip(1).filter_map(|l| l.split_once(" = ")));
    let mut names: Vec<&str> = names.map(|(name, _)| name).collect();
    let is_name = |name: &str| {
        name.chars()
            .all(|c| c.is_alphanumeric() || "-_".contains(c))
    };
    names.retain(|name| is_name(name) && !manifest.contains(&format!("\"dep:{name}\"")));
    names
}

#[test]
fn the_dependencies_without_features_are_all_named() {
    let manifest = read("Cargo.toml");
    let needed = needed(&manifest);
    assert!(needed.len() >= 3, "{needed:?}");
    for (text, from) in [
        ("docs/features.md", "Without features, the crate"),
        ("src/lib.rs", "Without features the dep"),
    ] {
        let text = read(text).replace("//!", "");
        let start = text.find(from).expect("the sentence");
        let sentence = text[start..].split(". ").next().expect("the sentence");
        for name in &needed {
            assert!(sentence.contains(name), "{name} is not in: {sentence}");
        }
    }
}

/// Whether `text` has `word` between characters that belong to no name.
fn has_word(text: &str, word: &str) -> bool {
    let belongs = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !belongs(before) && !belongs(after)
    })
}

#[test]
fn every_operator_is_in_the_texts_and_in_the_browser() {
    let files = [
        "README.md",
        "docs/operators.md",
        "src/lib.rs",
        "fuzz/cases.dict",
        "tests/conformance/README.md",
        "web/package/index.d.ts",
        "web/package/calls.js",
    ];
    for file in files {
        let text = read(file);
        assert!(!has_word(&text, "gather_n") && !has_word(&text, "ather"));
        for op in Op::ALL {
            let name = op.kind().name();
            assert!(has_word(&text, name), "{name} is not in {file}");
        }
    }
}

/// The texts in Markdown, without what is built or fetched.
fn markdown(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(Result::unwrap);
    let visible = entries.filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'));
    visible
        .map(|entry| entry.path())
        .filter(|path| !path.ends_with("target") && !path.ends_with("node_modules"))
        .flat_map(|path| match path.is_dir() {
            true => markdown(&path),
            false => vec![path],
        })
        .filter(|path| path.extension().is_some_and(|e| e == "md"))
        .collect()
}

/// What is made by building and fuzzing, which git ignores.
const MADE: [&str; 4] = ["target/", "web/dist", "fuzz/corpus", "fuzz/artifacts"];

/// Of what a text has in backticks and as links, the paths that begin in a folder of the repository.
fn named_paths<'a>(text: &'a str, folders: &[String]) -> Vec<&'a str> {
    let quoted = text.split('`').skip(1).step_by(2);
    let words = quoted.flat_map(str::split_whitespace);
    let links = text.split("](").skip(1);
    let links = links.filter_map(|rest| rest.split(')').next());
    // `file.npz:array`; the end of a sentence.
    let path = |word: &'a str| {
        word.split(':')
            .next()
            .map(|w| w.trim_end_matches([',', '.']))
    };
    let is_path = |word: &&str| {
        let begins = |folder: &String| word.starts_with(folder.as_str()) && *word != folder;
        let is_pattern = word.contains("NAME") || word.contains(['*', '<', '{', '$']);
        let is_made = MADE.iter().any(|made| word.starts_with(made));
        folders.iter().any(begins) && !is_pattern && !is_made
    };
    words
        .chain(links)
        .filter_map(path)
        .filter(is_path)
        .collect()
}

#[test]
fn the_paths_that_texts_name_exist() {
    let root = path("");
    let entries = fs::read_dir(&root).expect("the root").map(Result::unwrap);
    let folders = entries.filter(|entry| entry.path().is_dir());
    let folders: Vec<String> = folders
        .map(|entry| format!("{}/", entry.file_name().to_string_lossy()))
        .collect();
    let texts = markdown(&root);
    assert!(texts.len() >= 14, "{texts:?}");
    let mut seen = BTreeSet::new();
    for text in texts {
        let own = text.parent().expect("a folder");
        let words = fs::read_to_string(&text).expect("a text");
        for named in named_paths(&words, &folders) {
            // A text in a folder may mean that folder's own.
            let exists = root.join(named).exists() || own.join(named).exists();
            assert!(exists, "{}: {named}", text.display());
            seen.insert(named.split('/').next().unwrap_or_default().to_owned());
        }
    }
    let folders = [
        "benches",
        "cli",
        "conformance",
        "docs",
        "examples",
        "shaders",
        "src",
        "tests",
        "web",
    ];
    for folder in folders {
        assert!(seen.contains(folder), "{folder}: {seen:?}");
    }
}

/// The lines of the table of where it has run, which `tests/ran.sh` renews.
fn rows_of_runs() -> String {
    let runs = read("tests/ran.tsv");
    let row = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        assert_eq!(fields.len(), 6, "{line}");
        format!("| {} |\n", fields[1..].join(" | "))
    };
    runs.lines().map(row).collect()
}

#[test]
fn where_it_has_run_is_what_scripts_noted() {
    let text = read("docs/platforms.md");
    let head = "| API | shader compiler | where | what ran | last run |\n|---|---|---|---|---|\n";
    let (before, rest) = text.split_once(head).expect("the table");
    let (rows, after) = rest.split_once("\n\n").expect("its end");
    let noted = rows_of_runs();
    if std::env::var_os("GATHER_RENEW").is_some() {
        let text = format!("{before}{head}{noted}\n{after}");
        return fs::write(path("docs/platforms.md"), text).expect("the table is written");
    }
    assert_eq!(format!("{rows}\n"), noted, "tests/ran.sh renews it");
}

/// The blocks of a language in a text in Markdown.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let start = format!("```{language}\n");
    let blocks = text.split(start.as_str()).skip(1);
    blocks.filter_map(|rest| rest.split("```").next()).collect()
}

#[test]
fn the_readme_is_short_and_its_dependencies_are_packages_with_those_features() {
    let text = read("README.md");
    assert!(text.lines().count() <= 160, "{}", text.lines().count());
    let blocks = blocks(&text, "toml");
    let [block] = blocks.as_slice() else {
        panic!("{blocks:?}");
    };
    let lines = block.lines().skip(1);
    let mut seen = 0;
    for line in lines.filter(|line| !line.is_empty()) {
        let quoted: Vec<&str> = line.split('"').skip(1).step_by(2).collect();
        let (name, _) = line.split_once(" = ").expect("a dependency");
        let (at, features) = quoted.split_first().expect("a path");
        let folder = at.strip_prefix("../wgpu-gather").expect("a checkout");
        let manifest = read(&format!(".{folder}/Cargo.toml"));
        assert!(
            manifest.contains(&format!("\nname = \"{name}\"\n")),
            "{line}"
        );
        for feature in features {
            assert!(manifest.contains(&format!("\n{feature} = [")), "{line}");
        }
        seen += 1;
    }
    assert_eq!(seen, 2, "{block}");
}

/// What registries and tools would follow must lead somewhere.
#[test]
fn the_manifests_name_no_repository() {
    for manifest in ["Cargo.toml", "cli/Cargo.toml", "conformance/Cargo.toml"] {
        assert!(
            !read(manifest)
                .lines()
                .any(|line| line.starts_with("repository")),
            "{manifest}"
        );
    }
}

/// Words of a module's documentation that name the source: its files, its private modules.
fn internals(module: &str) -> Vec<&str> {
    let lines = module.lines().filter(|line| line.starts_with("//!"));
    let words = lines.flat_map(str::split_whitespace);
    let names_source = |word: &&str| {
        let parts = ["src/", "shaders/", ".wgsl", "cpu::", "record::"];
        parts.iter().any(|part| word.contains(part))
    };
    words.filter(names_source).collect()
}

#[test]
fn the_documentation_of_the_library_is_not_about_its_source() {
    let modules = [
        "lib.rs",
        "guide.rs",
        "guide/verbs.rs",
        "guide/programs.rs",
        "gpu/mod.rs",
        "plan/mod.rs",
        "quantized/mod.rs",
        "shard/mod.rs",
        "interop/mod.rs",
    ];
    for module in modules {
        let text = read(&format!("src/{module}"));
        assert!(text.starts_with("//!"), "{module}");
        assert_eq!(internals(&text), [""; 0], "{module}");
    }
    let planted =
        "//! The shaders (`shaders/*.wgsl`) see words.\n//! ├─ cpu::reference  definitions\n";
    assert_eq!(internals(planted), ["(`shaders/*.wgsl`)", "cpu::reference"]);
}
