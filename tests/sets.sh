#!/usr/bin/env bash
# What tests/run.sh makes of the sets of adapters that other machines have: GL only, Vulkan only, none;
# without CI's variables. The drivers are hidden from their loaders, as if they were not installed. Runs the tests of
# the command and the documented calls; without an adapter the suite, which tests/mesa.sh runs with GL only and with
# Vulkan only. Takes the binaries that are built already.
#
# The last line is "N passed, M failed, 0 skipped": the sets, and what run.sh makes of each.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tests/chroot.sh
. tests/steps.sh
. tests/adapters.sh

step="other sets of adapters"
lacking=
if [[ $(uname -s) != Linux || $(able_apis | wc -l) != 2 ]]; then
    lacking="Linux with adapters of Vulkan and GL"
fi
leave_if_lacking "$lacking" "${CI:+1}"

# Mesa's EGL complains where this is unset.
export XDG_RUNTIME_DIR=${XDG_RUNTIME_DIR:-$scratch}
unset CI WGPU_BACKEND WGPU_GATHER_ALLOW_NO_GPU

# check WHAT COMMAND...: counts it as passed or failed.
check() {
    local what=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        echo "FAILED: $what"
        failed=$((failed + 1))
    fi
}

# tests_of TARGET ARGUMENT...: the tests of the command (cli) or the suite; arguments are those of the tests.
tests_of() {
    cargo test --workspace --all-features --locked --no-fail-fast --test "$1" -- --show-output "${@:2}" |&
        only_results
}

# on_set APIS VARIABLE...: whether the drivers that remain are those; whether run.sh wants more, which it
# does in CI; and the tests.
on_set() {
    local apis=$1 found
    shift
    # shellcheck disable=SC2163 # NAME=VALUE each
    export "$@"
    found=$(able_apis | tr '\n' ' ')
    printf '\nadapters of: %s\n' "${apis:-nothing}"
    check "adapters of $apis, not of $found" test "$found" == "${apis:+$apis }"
    if [[ -n $apis ]]; then
        check "one adapter suffices" adapters_suffice
        check "documented calls with $apis only" tests_of suite documented::
    else
        check "no adapter is too few" not adapters_suffice
        check "tests fail without an adapter, and say what to install" says_what_to_install
        export WGPU_GATHER_ALLOW_NO_GPU=1
        check "the suite without an adapter, where that is allowed" \
            tests_of suite --skip ::faults_of_ --skip ::faults_in_ --skip huge:: --skip on_the_host \
            --skip shaders::
    fi
    check "the tests of the command with ${apis:-no adapter}" tests_of cli
    unset WGPU_GATHER_ALLOW_NO_GPU
    CI=true check "one API is too few for CI" not adapters_suffice
    unset "${@%%=*}"
}

not() {
    ! "$@"
}

says_what_to_install() {
    local test=documented::documented_examples_on_every_executor
    ! cargo test --workspace --all-features --locked --test suite -- --exact $test &>"$scratch/none" &&
        grep --quiet "no GPU adapter (Debian/Ubuntu: apt-get install" "$scratch/none"
}

on_set gl "${no_vulkan[@]}"
on_set vulkan "${no_gl[@]}"
on_set "" "${no_vulkan[@]}" "${no_gl[@]}"
report
