//! The texts of the repository name what there is.

use std::path::Path;

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
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
        ("README.md", "Without features, the crate"),
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

/// Of what CONTRIBUTING.md has in backticks, the paths that begin in a folder of the repository.
#[test]
fn the_files_that_contributors_are_sent_to_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = read("CONTRIBUTING.md");
    let quoted = text.split('`').skip(1).step_by(2);
    let folders = [
        "benches/",
        "cli/",
        "conformance/",
        "examples/",
        "shaders/",
        "src/",
        "tests/",
        "web/",
    ];
    let is_path = |word: &&str| folders.iter().any(|f| word.starts_with(f) && *word != *f);
    let paths: Vec<&str> = quoted
        .filter(is_path)
        .filter(|p| !p.contains("NAME"))
        .collect();
    assert!(paths.len() > 20, "{paths:?}");
    for path in paths {
        assert!(root.join(path).exists(), "{path}");
    }
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
