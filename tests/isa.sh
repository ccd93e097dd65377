#!/usr/bin/env bash
# What GPUs' own compilers make of every pipeline, without the GPUs: Mesa's for AMD, NVIDIA, Apple and
# Qualcomm. Nothing runs, so nothing here is a speed. What they make is compared with the tables in
# tests/isa/tables/, where Mesa is of the table's version; limits hold with any (tests/isa/src/).
#
#   tests/isa.sh                     checks all GPUs
#   tests/isa.sh renew               writes the tables anew: look at what git says of them then
#   tests/isa.sh print               the tables to standard output, nothing checked
#   tests/isa.sh assembly "rows 16 single"
#                                    what the driver says of that pipeline, the assembly with it
#   tests/isa.sh print navi21 m1     these only; so with the others, but assembly "..." takes one
#
#   WGPU_GATHER_WANT_ISA=1  fails where it cannot run, instead of saying so; 0 leaves it out
#   WGPU_GATHER_CHROOTS=DIR  where other systems are kept (see tests/chroot.sh)
#
# navi21 is compiled by the machine's Mesa, and needs neither root nor Debian. The last line of a check
# is "N passed, M failed, K skipped": pipelines and planted faults.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tests/chroot.sh

# A table, the system that compiles, the shim if it takes one, the driver, and the variable that names
# the GPU.
gpus=(
    "navi21 machine - radeon RADV_FORCE_FAMILY=navi21"
    "navi31 trixie - radeon RADV_FORCE_FAMILY=navi31"
    "renoir trixie - radeon RADV_FORCE_FAMILY=renoir"
    "ampere testing nouveau nouveau NOUVEAU_CHIPSET=172"
    "m1 testing asahi asahi NO_VARIABLE=1"
    "adreno740 testing freedreno freedreno FD_GPU_ID=740"
)

# on_gpu SYSTEM SHIM DRIVER VARIABLE COMMAND...: the command with that GPU.
on_gpu() {
    local system=$1 shim=$2 driver=$3 variable=$4 where=()
    shift 4
    if [[ $system != machine ]]; then
        where=(in_chroot "$system")
    fi
    if [[ $shim != - ]]; then
        variable+=" LD_PRELOAD=/usr/lib/x86_64-linux-gnu/lib${shim}_noop_drm_shim.so"
    fi
    # Some systems have the processor in the name of the file.
    # shellcheck disable=SC2016,SC2086 # for the inner shell; two words
    "${where[@]}" bash -c '
        driver=$(echo /usr/share/vulkan/icd.d/'"$driver"'_icd*.json)
        exec env VK_DRIVER_FILES="$driver" XDG_RUNTIME_DIR=/tmp "$@"
    ' bash $variable "$@"
}

cargo build --quiet --package wgpu-gather-isa --locked
program=$(realpath "${CARGO_TARGET_DIR:-target}")/debug/wgpu-gather-isa
mkdir -p "$chroots/files"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for gpu in "${gpus[@]}"; do
    read -r table where <<<"$gpu"
    if [[ ${2:-} && " ${*:2} " != *" $table "* ]]; then continue; fi
    # shellcheck disable=SC2086 # four words
    on_gpu $where "$program" "$1" 2>"$scratch/err" || { cat "$scratch/err"; exit 1; }
done
