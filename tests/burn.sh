#!/usr/bin/env bash
# The crate on burn (integrations/burn): lints, documentation, examples, and its tests in Debian 13's Mesa
# 25 on Vulkan and GL; with burn's fusion and autotune, and without. burn is built for both, and for
# lints: a quarter of an hour each on two cores, so .ci/run leaves this out.
#
#   WGPU_GATHER_WANT_BURN=1      fails where it cannot run, instead of saying so; 0 leaves it out
#   WGPU_GATHER_CHROOTS=DIR      where Debian 13 is kept (see tests/chroot.sh)
#   WGPU_GATHER_BURN_APIS=vulkan one API only
#   WGPU_GATHER_BURN_CASES, WGPU_GATHER_BURN_SEED, WGPU_GATHER_BURN_CHAINS: how many random calls, which,
#                                and how many chains of 1,000 steps
#
# The last line is "N passed, M failed, K skipped". What was skipped is named before it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tests/chroot.sh

leave_if_lacking "$(chroot_lacks)" "${WGPU_GATHER_WANT_BURN:-}"
mkdir -p "$chroots/files"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
make_chroot trixie mesa-vulkan-drivers libvulkan1 libegl1 libgl1-mesa-dri
printf 'burn on %s of Debian trixie\n' "$(mesa_of trixie)"
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/integrations/burn/target}
mkdir -p "$CARGO_TARGET_DIR"
cd integrations/burn
cargo fmt --check

# Lints and documentation with all features: their builds of burn are others than those of the tests.
cargo clippy --all-targets --locked -- -D warnings
RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --locked --lib

# built ARGUMENT...: builds tests and examples; sets `unit`, `suite` and `examples` to where they are.
built() {
    local log=$scratch/build
    if ! cargo test --no-run --lib --test suite --locked --color never "$@" &>"$log" ||
        ! cargo build --examples --locked --color never "$@" &>>"$log"; then
        cat "$log"
        return 1
    fi
    unit=$(sed -n 's/.*Executable unittests src\/lib.rs (\(.*\))/\1/p' "$log")
    suite=$(sed -n 's/.*Executable tests\/suite\/main.rs (\(.*\))/\1/p' "$log")
    examples=${suite%/deps/*}/examples
}

# in_trixie NAME RUNS COMMAND...: counts what the tests in it say.
in_trixie() {
    local log=$scratch/$1 runs=$2
    shift 2
    in_chroot trixie env "${settings[@]}" "$@" &>"$log" || true
    count "$log" "$runs"
}

no_pool=$CARGO_TARGET_DIR/no_pool
mkdir -p "$no_pool"
printf '[memory]\npersistent_memory = "disabled"\n' >"$no_pool/cubecl.toml"

settings=()
for name in APIS CASES SEED CHAINS; do
    variable=WGPU_GATHER_BURN_$name
    [[ -z ${!variable:-} ]] || settings+=("$variable=${!variable}")
done

for features in "" "--no-default-features --features autodiff"; do
    printf '\nfeatures: %s\n' "${features:-fusion, autotune, autodiff}"
    # shellcheck disable=SC2086 # several arguments
    built $features
    "$unit" &>"$scratch/unit" || true
    count "$scratch/unit" 1
    # shellcheck disable=SC2086 # several arguments
    cargo test --doc --locked $features &>"$scratch/doc" || true
    count "$scratch/doc" 1
    # It calls rustc, which the folder with Debian 13 has none of.
    "$suite" versions &>"$scratch/versions" || true
    count "$scratch/versions" 1
    in_trixie suite 1 "$suite" --show-output --skip versions
    # Without burn's persistent pool, outputs have buffers of their own.
    in_trixie no_pool 1 env --chdir="$no_pool" "$suite" --show-output chains
    if in_chroot trixie "$examples/train"; then
        passed=$((passed + 1))
    else
        echo "FAILED: the example train"
        failed=$((failed + 1))
    fi
done
report
