# Lints of the crate's features and of its build for browsers. Sourced by tests/run.sh, with web/needs.sh and
# tests/steps.sh.
# shellcheck shell=bash disable=SC2154 # of these two

# Each feature alone, and none: the library without its dev-dependencies, which could hide a
# feature that a dependency lacks. "default" is a feature of the manifest, too. Those that only choose
# a backend of wgpu are left out: no code here depends on them.
lint_features() {
    local features feature backends
    features=$(sed -n '/^\[features\]/,/^\[dependencies\]/{/"wgpu\//d;s/^\([a-z0-9_-]*\) = .*/\1/p;}' Cargo.toml)
    [[ $features == *gpu*internals* ]] # what was read are the features
    backends=$(sed -n 's/^\([a-z0-9]*\) = .*"wgpu\/.*/\1/p' Cargo.toml | paste -s -d '|')
    [[ $backends == *vulkan* ]]
    if grep -rE "feature = \"($backends)\"" src; then
        echo "FAILED: lint_features leaves out features that code depends on"
        return 1
    fi
    for feature in "" $features; do
        echo "features: ${feature:-none}"
        cargo clippy --package wgpu-gather --lib --locked \
            --no-default-features --features "$feature" -- -D warnings
    done
}

# The library for browsers: with WebGPU, as others depend on it and as its own page does. Then the crate
# that checks it there.
lint_for_browsers() {
    local features
    if ! has_target; then
        echo "NOT RUN: lints for browsers, without Rust's target (rustup target add $browser_target)"
        return
    fi
    for features in gpu webgpu webgpu,internals,half,ndarray,num-complex,serde; do
        echo "features: $features"
        cargo clippy --package wgpu-gather --lib --locked --target "$browser_target" \
            --no-default-features --features "$features" -- -D warnings
    done
    cargo clippy --package wgpu-gather-conformance --locked --target "$browser_target" -- -D warnings
}

# Without features, the library is planner and CPU path, with few dependencies and no wgpu.
few_dependencies() {
    local direct
    direct=$(cargo tree --package wgpu-gather --no-default-features --edges normal --locked \
        --depth 1 --prefix none --format '{lib}' | tail -n +2 | sort | tr '\n' ' ')
    echo "dependencies without features: $direct"
    [[ ${direct/libc /} == "bytemuck pollster smallvec thiserror " ]]
}

# The command as `cargo install` builds it, without features: what it says of those that it lacks. It runs for moments,
# so it is not optimized.
command_without_features() {
    CARGO_PROFILE_DEV_OPT_LEVEL=0 cargo test --package wgpu-gather-cli --test features --locked
}

# Each crate that is published builds from what its package holds. All are unpacked into one workspace, with
# the profiles of this one, so that their dependencies are those that the lints have checked. What cargo would
# verify itself, it compiles with all dependencies anew for each package, and against packages of the same
# version that an earlier run has left in its cache.
packages() {
    local unpacked=$scratch/packages package
    cargo package --workspace --exclude wgpu-gather-isa --exclude wgpu-gather-sanitizer \
        --no-verify --locked --allow-dirty --target-dir "$scratch/packaged"
    mkdir "$unpacked"
    printf '[workspace]\nresolver = "3"\nmembers = ["*"]\n[patch.crates-io]\n' >"$unpacked/Cargo.toml"
    for package in "$scratch"/packaged/package/*.crate; do
        tar xzf "$package" -C "$unpacked"
        package=$(basename "$package" .crate)
        echo "${package%-*} = { path = \"$package\" }" >>"$unpacked/Cargo.toml"
    done
    sed -n '/^\[profile/,/^$/p' Cargo.toml >>"$unpacked/Cargo.toml"
    cp Cargo.lock "$unpacked"
    CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target} cargo check --offline --lib --bins --examples \
        --all-features --workspace --manifest-path "$unpacked/Cargo.toml"
}

# Manifests and texts, with the tools that are installed: licences, advisories and duplicates of
# dependencies (deny.toml), what a release would break, spelling, the format of manifests.
manifests() {
    local tag
    if has_tool cargo-deny; then
        cargo deny --workspace check
    fi
    if tag=$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null); then
        if has_tool cargo-semver-checks; then
            cargo semver-checks --baseline-rev "$tag" --package wgpu-gather --package wgpu-gather-files \
                --package wgpu-gather-conformance
        fi
    else
        echo "NOT RUN: cargo semver-checks, which compares with the last tag: there is none"
    fi
    if has_tool typos; then
        typos
    fi
    if has_tool taplo; then
        taplo fmt --check
    fi
}

has_tool() {
    command -v "$1" >/dev/null && return
    echo "NOT RUN: $1, which is not installed"
    return 1
}

# The library's and that of the crate for files; the command, whose docs would land in the same folder as
# the library's, has none but --help.
document() {
    document_as_docs_rs
    RUSTDOCFLAGS="-D warnings" cargo doc --package wgpu-gather --package wgpu-gather-files --no-deps \
        --all-features --locked
}

# As docs.rs builds it, with the features that the manifest names: each item says which feature it needs, and
# what is only for our tests is not there. The features of a nightly are for rustdoc alone: for all of cargo,
# dependencies would be compiled once more.
document_as_docs_rs() {
    local features folder=${CARGO_TARGET_DIR:-target}/doc/wgpu_gather
    features=$(sed -n '/^\[package.metadata.docs.rs\]/,/^$/s/^features = \[\(.*\)\]/\1/p' Cargo.toml | tr -d '" ')
    [[ $features == *half* ]]
    # shellcheck disable=SC2016 # for the inner shell
    printf '#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec rustdoc "$@"\n' >"$scratch/rustdoc"
    chmod +x "$scratch/rustdoc"
    rm -rf "$folder"
    RUSTDOC=$scratch/rustdoc RUSTDOCFLAGS="--cfg docsrs -D warnings" cargo doc --package wgpu-gather --no-deps \
        --features "$features" --locked
    # shellcheck disable=SC2016 # backquotes of the page
    grep -qE 'crate feature (`|<code>)gpu' "$folder/index.html"
    [[ ! -e $folder/gpu/internals ]]
    rm -rf "$folder"
}
