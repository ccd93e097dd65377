#!/usr/bin/env bash
# Drivers of real GPUs, without the GPUs: Mesa's compilers for AMD, NVIDIA, Apple and Qualcomm, on
# kernel interfaces that do nothing (Mesa's drm-shim). Every pipeline must compile, on each through
# wgpu. Nothing is executed, so every result is wrong: the command must say so, and neither panic nor
# hang, and `auto` must take the CPU path. Runs in a Debian testing in a folder.
#
#   WGPU_GATHER_WANT_DRIVERS=1 fails where it cannot run, instead of saying so; 0 leaves it out
#   WGPU_GATHER_CHROOTS=DIR     where that system is kept (see tests/chroot.sh)
#
# The last line is "N passed, M failed, 0 skipped": the drivers.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tests/chroot.sh

system=testing

# A GPU, the shim and the driver, and the variable that names the GPU to the shim. tests/isa.sh compiles for
# Ampere and Adreno 740 with the same Mesa.
gpus=(
    "AMD RX 9070 XT (RDNA 4)|amdgpu radeon AMDGPU_GPU_ID=gfx1201"
    "AMD RX 7900 XTX (RDNA 3)|amdgpu radeon AMDGPU_GPU_ID=navi31"
    "AMD RX 6900 XT (RDNA 2)|amdgpu radeon AMDGPU_GPU_ID=navi21"
    "AMD RX 5700 XT (RDNA 1)|amdgpu radeon AMDGPU_GPU_ID=navi10"
    "AMD Ryzen 4000 (GCN 5)|amdgpu radeon AMDGPU_GPU_ID=renoir"
    "AMD RX 580 (GCN 4)|amdgpu radeon AMDGPU_GPU_ID=polaris10"
    "NVIDIA Turing, by NVK|nouveau nouveau NOUVEAU_CHIPSET=162"
    "Apple M1, by Honeykrisp|asahi asahi NO_VARIABLE=1"
    "Qualcomm Adreno 630|freedreno freedreno FD_GPU_ID=630"
    "Qualcomm Adreno 660|freedreno freedreno FD_GPU_ID=660"
)

# on_driver SHIM DRIVER VARIABLE ARGUMENT...: the command on it, with what it says in two files.
on_driver() {
    local status=0
    in_chroot $system env "LD_PRELOAD=/usr/lib/x86_64-linux-gnu/lib$1_noop_drm_shim.so" \
        "VK_DRIVER_FILES=/usr/share/vulkan/icd.d/$2_icd.json" "$3" WGPU_BACKEND=vulkan \
        timeout 300 "$command" "${@:4}" >"$scratch/out" 2>"$scratch/err" || status=$?
    echo $status
}

# said FILE TEXT: whether the command has said so.
said() {
    grep --quiet --fixed-strings -- "$2" "$scratch/$1"
}

# complaint STATUS EXPECTED: what is wrong with how a run ended; nothing, if nothing is.
complaint() {
    if said err panicked; then
        echo "it panicked"
    elif [[ $1 == 124 ]]; then
        echo "it hung"
    elif [[ $1 != "$2" ]]; then
        echo "status $1, expected $2"
    fi
}

# check SHIM DRIVER VARIABLE: everything that is to be true of a driver; what is not.
check() {
    local wrong
    wrong=$(complaint "$(on_driver "$@" verify --backend gpu --adapter vulkan --pipelines --json)" 1)
    if [[ -z $wrong ]]; then
        said out "\"pipelines\": $pipelines," || wrong="not all pipelines are compiled"
        ! said out "wgpu refused" || wrong="a pipeline is refused"
        ! said out '"failed": 0,' || wrong="no result is reported as wrong"
    fi
    if [[ -z $wrong ]]; then
        wrong=$(complaint "$(on_driver "$@" demo)" 0)
        said out "lacks right results" || wrong="${wrong:-auto does not say why it takes the CPU}"
    fi
    [[ -z $wrong ]] || {
        echo "$wrong"
        tail -n 5 "$scratch/err" "$scratch/out"
    }
}

leave_if_lacking "$(chroot_lacks)" "${WGPU_GATHER_WANT_DRIVERS:-}"
mkdir -p "$chroots/files"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
make_chroot $system mesa-vulkan-drivers libvulkan1 libegl1 libgl1-mesa-dri mesa-drm-shim
build_tests "$@"
# How many pipelines there are where eight segments of params are bound: as many as these drivers do.
pipelines=$("$suite" --exact shaders::every_pipeline_is_valid_and_can_be_written_for_every_api \
    --nocapture | sed -n 's/^\([0-9]*\) pipelines, .*/\1/p')
echo "$pipelines pipelines, by the compilers of $(mesa_of $system)"
for gpu in "${gpus[@]}"; do
    started=$SECONDS
    # shellcheck disable=SC2086 # three words
    wrong=$(check ${gpu#*|})
    printf '%s: %s (%d s)\n' "${gpu%|*}" "${wrong:-ok}" $((SECONDS - started))
    if [[ -z $wrong ]]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
done
names=$(printf ', %s' "${gpus[@]%%|*}")
ran drivers Vulkan "$(mesa_of $system) for ${names#, }" "Debian testing, without the GPUs" \
    "compiles every pipeline; nothing is executed, and the results are reported as wrong"
report
