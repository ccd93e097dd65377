#!/usr/bin/env bash
# Builds and tests on this machine: format, all tests on every GPU adapter. Runs from any directory and
# needs Rust; a quarter of an hour on two cores where nothing is built yet. If a Linux machine has no
# adapter, Mesa's software drivers are installed, and nothing else. Ends with the names of what it left out.
#
#   tests/run.sh --everywhere   adds all the rest, as continuous integration does: lints, documentation,
#                               packages, planted faults, tensors beyond 4 GiB, the sanitizer of
#                               kernels, benches/gpu.sh at small sizes, other sets of adapters, a browser,
#                               ranks of MPI, DX12 under Wine, other versions of Mesa, compilers of GPUs.
#                               Installs what these need (Debian or Ubuntu, and root), makes Debian
#                               systems in folders, and stops at the first failure
#
#   CI=true                     wants adapters of both Vulkan and GL on Linux
#   WGPU_GATHER_ALLOW_NO_GPU=1  installs nothing and lets the tests run without an adapter
#   WGPU_BACKEND=vulkan         restricts adapters to one API (a variable of wgpu)
#   GATHER_RENEW=1              everywhere: writes the table of docs/platforms.md anew: where it has run
#   GATHER_CASES=2000           how many random calls the tests make; GATHER_LARGE: large ones;
#                               GATHER_PROGRAMS: programs
#   WGPU_GATHER_WANT_BROWSER=1  everywhere: fails where the tests in a browser cannot run, instead of
#                               saying so; .ci/run sets it, unless it is set to 0. The same for
#                               tests/dx12.sh (WGPU_GATHER_WANT_DX12), tests/drivers.sh (…_DRIVERS),
#                               tests/isa.sh (…_ISA), tests/mesa.sh (…_MESA) and tests/mpi.sh (…_MPI);
#                               0 leaves them out
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case ${1:-} in
    "") everywhere= ;;
    --everywhere) everywhere=1 ;;
    *)
        echo "usage: tests/run.sh [--everywhere]" >&2
        exit 2
        ;;
esac

. web/needs.sh
. tests/chroot.sh
. tests/steps.sh
. tests/adapters.sh
. tests/lints.sh

# Nothing is built twice here with a change between.
export CARGO_INCREMENTAL=${CARGO_INCREMENTAL:-0}
# Steps are read by a pipe; a terminal behind it shows colours all the same.
if [[ -t 1 ]]; then
    export CARGO_TERM_COLOR=${CARGO_TERM_COLOR:-always}
fi
# Mesa's EGL complains where this is unset.
export XDG_RUNTIME_DIR=${XDG_RUNTIME_DIR:-$scratch}
# Old versions of Mesa are slow, and free nothing of what they compile.
export GATHER_CASES=${GATHER_CASES:-2000} GATHER_PROGRAMS=${GATHER_PROGRAMS:-100}

format() {
    if cargo fmt --version >/dev/null 2>&1; then
        cargo fmt --all --check
    else
        echo "NOT RUN: format, without rustfmt (rustup component add rustfmt)"
    fi
}

# tested ARGUMENT...: the workspace's tests; cargo's arguments, then `--` and those of the tests.
tested() {
    local cargo=(--workspace --all-features --locked)
    while [[ ${1:-} && $1 != -- ]]; do
        cargo+=("$1")
        shift
    done
    cargo test "${cargo[@]}" -- --show-output "${@:2}" |& only_results
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
        echo "NOT RUN: tests/$1.sh, which needs adapters or installs something"
        return
    fi
    "tests/$1.sh"
}

# On this machine's adapters, where tests/mesa.sh need not plant them in the shaders.
planted_faults() {
    local targets=--tests
    if [[ ${WGPU_GATHER_WANT_MESA:-} == 1 ]]; then
        targets=--lib
    fi
    tested "$targets" -- ::faults_of_ ::faults_in_
}

# From start to end on this machine's adapter; the figures are no GPU's.
gpu_benchmarks() {
    if [[ -z $(able_apis) ]]; then
        echo "NOT RUN: benches/gpu.sh, without an adapter"
        return
    fi
    GATHER_PROFILE=dev benches/gpu.sh --small --out "$scratch/gpu"
}

run "format" format
run "building the tests" cargo test --workspace --all-features --locked --no-run
run "adapters" adapters
# In two processes: old versions of Mesa never free what they compile.
run "tests" tested --no-fail-fast -- \
    --skip ::faults_of_ --skip ::faults_in_ --skip huge:: --skip quantized --skip bag
run "tests of quantized tables and pooled lookups" tested --no-fail-fast -- \
    quantized bag --skip ::faults_of_ --skip ::faults_in_ --skip huge::
if [[ -n $everywhere ]]; then
    run "adapters that have passed" note_runs
    # A process of their own: old versions of Mesa never free what they compile, which is most here.
    run "planted faults" planted_faults
    run "tensors beyond 4 GiB" tested --test suite -- huge::
    run "other sets of adapters" elsewhere sets
    run "kernels under the sanitizer" elsewhere sanitizer
    run "benchmarks of a GPU, small" gpu_benchmarks
    run "lints" cargo clippy --workspace --all-targets --all-features --locked -- -D warnings
    run "lints of each feature alone" lint_features
    run "dependencies without features" few_dependencies
    run "the command without features" command_without_features
    run "packages" packages
    run "manifests and texts" manifests
    run "documentation" document
    run "tools for browsers" browser_tools
    run "lints for browsers" lint_for_browsers
    run "browser" web/test.sh
    run "tables over ranks of MPI" elsewhere mpi
    run "compilers of GPUs" elsewhere isa
    run "drivers without their GPUs" elsewhere drivers
    run "other versions of Mesa" elsewhere mesa
    run "DX12" elsewhere dx12
fi

if [[ -n $everywhere && -n ${GATHER_RENEW:-} ]]; then
    run "table of where it has run" tests/ran.sh "$said"
fi

printf '\nAll steps passed: %d s in all\n' $((SECONDS - started))
printf '\nLeft out:\n'
if [[ -z $everywhere ]]; then
    cat <<'END'
planted faults, tensors beyond 4 GiB, the sanitizer of kernels, benches/gpu.sh, lints, documentation, packages, other
sets of adapters, a browser, ranks of MPI, DX12, other versions of Mesa, compilers of GPUs:
tests/run.sh --everywhere
END
fi
left_out
