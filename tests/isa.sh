#!/usr/bin/env bash
# What GPUs' own compilers make of every pipeline, without the GPUs: Mesa's for AMD, NVIDIA, Apple and
# Qualcomm. Nothing runs, so nothing here is a speed. It is held against limits, and against the tables
# in tests/isa/tables/ where Mesa is of a table's version. Faults are planted, which must be reported.
#
#   tests/isa.sh                   checks all GPUs
#   tests/isa.sh renew             writes the tables anew; look at what git says of them then
#   tests/isa.sh print             prints them, and checks nothing
#   tests/isa.sh print navi21 m1   those of these GPUs; so with check and renew
#   tests/isa.sh assembly "rows 16 single" navi21
#                                  all that the driver says of a pipeline, assembly included
#
#   WGPU_GATHER_WANT_ISA=1  fails where a GPU's compiler cannot run, instead of saying so; 0 leaves
#                           all out
#   WGPU_GATHER_CHROOTS=DIR  where other systems than the machine's are kept (see tests/chroot.sh)
#
# The last line of a check is "N passed, M failed, K skipped": pipelines and planted faults, and GPUs
# that were left out or not compared with their table.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tests/chroot.sh

# A GPU's table, the system whose Mesa compiles for it, the shim of the kernel's interface if it takes
# one, the driver, and the variable that names the GPU.
gpus=(
    "navi21 machine - radeon RADV_FORCE_FAMILY=navi21"
    "navi31 trixie - radeon RADV_FORCE_FAMILY=navi31"
    "renoir trixie - radeon RADV_FORCE_FAMILY=renoir"
    "ampere testing nouveau nouveau NOUVEAU_CHIPSET=172"
    "m1 testing asahi asahi NO_VARIABLE=1"
    "adreno740 testing freedreno freedreno FD_GPU_ID=740"
)

# prepare SYSTEM: makes it, unless it is there.
prepare() {
    case $1 in
        machine) [[ -n $(chroot_lacks) ]] || install mesa-vulkan-drivers libvulkan1 ;;
        trixie) make_chroot trixie mesa-vulkan-drivers libvulkan1 ;;
        testing) make_chroot testing mesa-vulkan-drivers libvulkan1 mesa-drm-shim ;;
    esac
}

# lacks SYSTEM SHIM DRIVER VARIABLE: what keeps the system, which is prepared if it can be, from having
# the compiler; nothing, if nothing does.
lacks() {
    if [[ $1 != machine ]]; then
        chroot_lacks
    elif [[ $(on_gpu "$@" device 2>/dev/null) != "Null hardware"* ]]; then
        echo "Mesa's Vulkan driver for AMD up to version 25"
    fi
}

# on_gpu SYSTEM SHIM DRIVER VARIABLE ARGUMENT...: the program with that GPU.
on_gpu() {
    local system=$1 shim=$2 driver=$3 variables=("$4" XDG_RUNTIME_DIR=/tmp)
    shift 4
    if [[ $shim != - ]]; then
        variables+=("LD_PRELOAD=/usr/lib/x86_64-linux-gnu/lib${shim}_noop_drm_shim.so")
    fi
    if [[ $system == machine ]]; then
        # Its file may have the processor in its name.
        driver=$(compgen -G "/usr/share/vulkan/icd.d/${driver}_icd*.json" | head -n 1 || true)
        env "${variables[@]}" "VK_DRIVER_FILES=$driver" "$program" "$@"
    else
        driver=/usr/share/vulkan/icd.d/${driver}_icd.json
        in_chroot "$system" env "${variables[@]}" "VK_DRIVER_FILES=$driver" "$program" "$@"
    fi
}

what=${1:-check}
shift || true
if [[ $what == check ]]; then
    leave_if_lacking "$([[ $(uname -s) == Linux ]] || echo Linux)" "${WGPU_GATHER_WANT_ISA:-}"
fi
arguments=("$what")
if [[ $what == assembly ]]; then
    arguments+=("$1")
    shift
fi
asked=" $* "

build_program wgpu-gather-isa
mkdir -p "$chroots/files" 2>/dev/null || true
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# All at once, each into files of its own.
named=0 ran=()
for gpu in "${gpus[@]}"; do
    read -r table system driver <<<"$gpu"
    if [[ $asked != "  " && $asked != *" $table "* ]]; then
        continue
    fi
    named=$((named + 1))
    if [[ $system == machine || -z $(chroot_lacks) ]]; then
        prepare "$system"
    fi
    # shellcheck disable=SC2086 # three words
    lacking=$(lacks "$system" $driver)
    if [[ -n $lacking && ${WGPU_GATHER_WANT_ISA:-} == 1 ]]; then
        echo "FAILED: $table needs $lacking"
        failed=$((failed + 1))
        continue
    elif [[ -n $lacking ]]; then
        echo "skipped: $table (NOT RUN: it needs $lacking)"
        skipped=$((skipped + 1))
        continue
    fi
    file=()
    if [[ $what == check || $what == renew ]]; then
        file=("tests/isa/tables/$table.txt")
    fi
    ran+=("$table")
    # shellcheck disable=SC2086 # three words
    on_gpu "$system" $driver "${arguments[@]}" "${file[@]}" \
        >"$scratch/$table" 2>"$scratch/$table.err" || echo $? >"$scratch/$table.status" &
done
wait
if ((named == 0)); then
    echo "no GPU has the name$asked"
    exit 1
fi
for table in "${ran[@]}"; do
    if [[ $what == check ]]; then
        printf '\n%s: ' "$table"
        head -n 1 "$scratch/$table"
        sed -i 1d "$scratch/$table"
        if ! grep --text -q "passed, " "$scratch/$table"; then
            cat "$scratch/$table.err"
            echo "0 passed, 1 failed, 0 skipped" >>"$scratch/$table"
        fi
        count "$scratch/$table" 1
    else
        cat "$scratch/$table"
        if [[ -e $scratch/$table.status ]]; then
            cat "$scratch/$table.err"
            exit 1
        fi
    fi
done
if [[ $what == check ]]; then
    report
fi
