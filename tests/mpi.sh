#!/usr/bin/env bash
# Tables over the ranks of an MPI program (mpi/): lints, documentation and tests, on 1, 2, 3, 4 and 7 ranks,
# on the CPU path and on adapters of Vulkan and GL. Installs OpenMPI, libclang (for the binding) and Mesa's
# drivers where they are missing: Debian or Ubuntu, and root. MPICH does as well, if it is there.
#
#   WGPU_GATHER_WANT_MPI=1      fails where they cannot be had, instead of saying so; 0 leaves them out
#   WGPU_GATHER_MPI_RANKS=2,4   other numbers of ranks
#   WGPU_GATHER_MPI_CASES=2000  how many random calls the tests make on the CPU path, for each
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tests/chroot.sh

has_mpi() {
    command -v mpirun >/dev/null && command -v mpicc >/dev/null &&
        { compgen -G "/usr/lib/llvm-*/lib/libclang*.so*" || compgen -G "/usr/lib*/libclang*.so*"; } \
            >/dev/null
}

# mpi_lacks: what keeps the tests from running; nothing, if nothing does.
mpi_lacks() {
    if [[ $(uname -s) != Linux ]]; then
        echo "Linux"
    elif ! has_mpi; then
        echo "mpirun, mpicc and libclang (Debian/Ubuntu: libopenmpi-dev openmpi-bin libclang-dev)"
    fi
}

if [[ ${WGPU_GATHER_WANT_MPI:-} != 0 && $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
    has_mpi || install libopenmpi-dev openmpi-bin libclang-dev
    install mesa-vulkan-drivers libvulkan1 libegl1 libgl1-mesa-dri
fi
leave_if_lacking "$(mpi_lacks)" "${WGPU_GATHER_WANT_MPI:-}"

# The command whose files those of the ranks must equal.
build_tests "$@"
# shellcheck disable=SC2154 # build_tests sets it
WGPU_GATHER_COMMAND=$(realpath "$command")
export WGPU_GATHER_COMMAND

backends=cpu
found=$("$WGPU_GATHER_COMMAND" adapters --json)
for api in vulkan gl; do
    if [[ $found == *"\"api\": \"$api\""* ]]; then
        backends=$backends,$api
    else
        echo "SKIPPED: $api, of which there is no adapter"
        [[ ${WGPU_GATHER_WANT_MPI:-} != 1 ]]
    fi
done
export WGPU_GATHER_MPI_BACKENDS=$backends

cd mpi
cargo fmt --check
cargo clippy --all-targets --locked -- -D warnings
RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --locked --lib
# Each test runs as many processes as ranks, which wait for each other much of the time.
cargo test --locked -- --test-threads "$(($(nproc) + 1))" --nocapture
