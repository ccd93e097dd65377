#!/usr/bin/env bash
# Checks everything: format, lints, feature sets, documentation, all tests. Runs from any
# directory and stops at the first failure. Needs Rust. The tests run on every GPU adapter of the
# machine; if a Linux machine has none, Mesa's software drivers are installed. So is what the tests
# in a browser need; they are left out, by name, where it cannot be had.
#
#   CI=true                     wants adapters of both Vulkan and GL on Linux
#   WGPU_GATHER_ALLOW_NO_GPU=1  installs nothing and lets the tests run without an adapter
#   WGPU_BACKEND=vulkan         restricts adapters to one API (a variable of wgpu)
#   WGPU_GATHER_WANT_BROWSER=1  fails where the tests in a browser cannot run, instead of saying so;
#                               .ci/run sets it, unless it is set to 0
#   WGPU_GATHER_WANT_DX12=1     the same for tests/dx12.sh; so WGPU_GATHER_WANT_DRIVERS for
#                               tests/drivers.sh, WGPU_GATHER_WANT_ISA for tests/isa.sh,
#                               WGPU_GATHER_WANT_MESA for tests/mesa.sh and WGPU_GATHER_WANT_MPI for
#                               tests/mpi.sh; 0 leaves them out. They need Debian and root, and some
#                               minutes
#   GATHER_CASES=1000           how many random calls the tests make
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. web/needs.sh
# Nothing is built twice here with a change between.
export CARGO_INCREMENTAL=${CARGO_INCREMENTAL:-0}

started=$SECONDS
step=
step_started=$SECONDS
scratch=$(mktemp -d)

finish() {
    local status=$?
    rm -rf "$scratch"
    if ((status != 0)); then
        printf '\nFAILED: %s, after %d s (%d s in all)\n' \
            "$step" $((SECONDS - step_started)) $((SECONDS - started))
    fi
}
trap finish EXIT

# run TITLE COMMAND...: a heading, the command, and how long it took.
run() {
    step=$1
    step_started=$SECONDS
    printf '\n=== %s\n' "$step"
    shift
    "$@"
    printf -- '--- %s: %d s\n' "$step" $((SECONDS - step_started))
}

# Mesa's EGL complains where this is unset.
if [[ -z ${XDG_RUNTIME_DIR:-} ]]; then
    export XDG_RUNTIME_DIR=$scratch
fi

# Each feature alone, and none: the library without its dev-dependencies, which could hide a
# feature that a dependency lacks. "default" is a feature of the manifest, too.
clippy_features() {
    local features
    features=$(sed -n '/^\[features\]/,/^\[dependencies\]/s/^\([a-z0-9_-]*\) = .*/\1/p' Cargo.toml)
    [[ $features == *gpu*internals* ]] # what was read are the features
    for features in "" $features; do
        echo "features: ${features:-none}"
        cargo clippy --package wgpu-gather --lib --locked \
            --no-default-features --features "$features" -- -D warnings
    done
}

# The library for browsers: with WebGPU, as others depend on it and as its own page does. Then the crate
# that checks it there.
clippy_browser() {
    local features
    if ! has_target; then
        echo "NOT RUN: Rust's target is not installed (rustup target add $browser_target)"
        return
    fi
    for features in gpu webgpu webgpu,internals,half,ndarray,num-complex; do
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
    [[ ${direct/libc /} == "bytemuck pollster thiserror " ]]
}

# The library's; the command, whose docs would land in the same folder, has none but --help.
doc() {
    RUSTDOCFLAGS="-D warnings" cargo doc --package wgpu-gather --no-deps --all-features --locked
}

# The adapters as the command sees them; the tests were built with it.
list_adapters() {
    local target
    target=$(cargo metadata --no-deps --format-version 1 --locked |
        sed 's/.*"target_directory":"\([^"]*\)".*/\1/; s/\\\\/\//g')
    "$target/debug/wgpu-gather" adapters "$@"
}

# Whether the tests have what they want: an adapter; in CI on Linux, one of Vulkan and one of GL.
adapters_suffice() {
    local found
    found=$(list_adapters --json)
    if [[ -n ${CI:-} && -z ${WGPU_BACKEND:-} && $(uname -s) == Linux ]]; then
        [[ $found == *'"api": "vulkan"'* && $found == *'"api": "gl"'* ]]
    else
        [[ $found == *'"api"'* ]]
    fi
}

as_root() {
    if [[ $(id -u) == 0 ]]; then
        "$@"
    else
        sudo "$@"
    fi
}

# Mesa's Vulkan and GL drivers; those of lavapipe and llvmpipe run on any CPU.
install_drivers() {
    if command -v apt-get >/dev/null; then
        as_root apt-get update
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
            mesa-vulkan-drivers libvulkan1 libegl1 libgl1-mesa-dri
    elif command -v dnf >/dev/null; then
        as_root dnf install --assumeyes \
            mesa-vulkan-drivers vulkan-loader mesa-libEGL mesa-dri-drivers
    elif command -v pacman >/dev/null; then
        as_root pacman --sync --refresh --noconfirm --needed \
            vulkan-swrast vulkan-icd-loader mesa libglvnd
    elif command -v apk >/dev/null; then
        as_root apk add mesa-vulkan-swrast vulkan-loader mesa-egl mesa-dri-gallium
    else
        echo "No package manager known here; please install Mesa's Vulkan and GL drivers."
        return 1
    fi
}

adapters() {
    if [[ ${WGPU_GATHER_ALLOW_NO_GPU:-} != 1 && $(uname -s) == Linux ]] && ! adapters_suffice; then
        list_adapters
        echo "An adapter is missing: installing Mesa's drivers."
        install_drivers
        if ! adapters_suffice; then
            list_adapters
            echo "An adapter is still missing (in CI: Vulkan and GL are both needed)."
            return 1
        fi
    fi
    list_adapters
}

# What the browser's steps need, as far as it can be had here.
browser_tools() {
    if [[ ${WGPU_GATHER_ALLOW_NO_GPU:-} != 1 ]]; then
        web/install.sh
    fi
}

# Tests in systems of their own, or with programs that are installed for them.
elsewhere() {
    if [[ ${WGPU_GATHER_ALLOW_NO_GPU:-} == 1 ]]; then
        echo "NOT RUN: tests/$1.sh, as nothing is to be installed"
        return
    fi
    "tests/$1.sh"
}

run "format" cargo fmt --all --check
run "lints" cargo clippy --workspace --all-targets --all-features --locked -- -D warnings
run "lints of each feature alone" clippy_features
run "tools for browsers" browser_tools
run "lints for browsers" clippy_browser
run "dependencies without features" few_dependencies
run "documentation" doc
run "building the tests" cargo test --workspace --all-features --locked --no-run
run "adapters" adapters
run "browser" web/test.sh
# Two processes: old versions of Mesa never free what they compile, which is most where faults are.
run "tests" cargo test --workspace --all-features --locked -- --skip ::faults_of_ --skip ::faults_in_
run "planted faults" cargo test --workspace --all-features --locked --tests -- ::faults_of_ ::faults_in_
run "tables over ranks of MPI" elsewhere mpi
run "compilers of GPUs" elsewhere isa
run "drivers without their GPUs" elsewhere drivers
run "other versions of Mesa" elsewhere mesa
run "DX12" elsewhere dx12

printf '\nAll steps passed: %d s in all\n' $((SECONDS - started))
