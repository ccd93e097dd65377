#!/usr/bin/env bash
# The tests on other versions of Mesa than the machine's, in Debian 13 and Debian testing in folders,
# on Vulkan (lavapipe) and GL (llvmpipe): in Debian 13 with both at once, and under Vulkan's own validation with
# synchronisation checks, which must have been active and have nothing to say; in Debian testing with GL only and
# with Vulkan only, as other machines have it, and with faults planted in the shaders (on Vulkan), which a newer Mesa
# compiles several times as fast. And on what users meet besides:
#
# - Chromium's SwiftShader as a Vulkan driver (where Chromium is installed): all calls and cases
# - adapters that cannot run gathers, which must be named and left: Mesa's softpipe, whose GL is too
#   old, and RADV's null device, which makes no device
# - no driver at all
#
#   WGPU_GATHER_WANT_MESA=1 fails where it cannot run, instead of saying so; 0 leaves it out
#   WGPU_GATHER_CHROOTS=DIR     where those systems are kept (see tests/chroot.sh)
#   WGPU_GATHER_MESA_CASES=10000  how many random calls the tests make; GATHER_LARGE=60: large ones
#   WGPU_GATHER_MESA_PROGRAMS=200  how many random programs
#
# The last line is "N passed, M failed, K skipped". What was skipped is named before it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tests/chroot.sh
. web/needs.sh
. tests/adapters.sh

drivers=/usr/share/vulkan/icd.d

# suite_in SYSTEM APIS VARIABLE...: the tests there, with these variables, which must leave adapters of these APIs.
# What needs no adapter has run on the machine itself.
suite_in() {
    local found
    printf '\n%s of Debian %s: %s\n' "$(mesa_of "$1")" "$1" "$2"
    found=$(in_chroot "$1" env "${@:3}" "$command" adapters --json | apis_of)
    if [[ ${found//$'\n'/ } != "$2" ]]; then
        echo "FAILED: adapters of ${found//$'\n'/ }, not of $2"
        failed=$((failed + 1))
    fi
    in_chroot "$1" env "${@:3}" GATHER_CASES="${WGPU_GATHER_MESA_CASES:-10000}" \
        GATHER_PROGRAMS="${WGPU_GATHER_MESA_PROGRAMS:-200}" \
        "$suite" --show-output --skip ::faults_of_ --skip ::faults_in_ --skip on_the_host \
        &>"$scratch/suite" || true
    count "$scratch/suite" 1
}

# plant_in SYSTEM: plants faults in the shaders there, on Vulkan: what finds them is the same for GL.
plant_in() {
    printf '\nfaults planted in shaders on %s of Debian %s\n' "$(mesa_of "$1")" "$1"
    in_chroot "$1" env "${no_gl[@]}" "$suite" --show-output ::faults_of_ ::faults_in_ &>"$scratch/suite" || true
    count "$scratch/suite" 1
}

# suite_passed SYSTEM WHERE WHAT: notes that it did, on Vulkan, of which WHAT is said, and GL.
suite_passed() {
    local version
    version=$(mesa_of "$1")
    ran "suite Vulkan $1" Vulkan "Mesa's lavapipe ${version#Mesa }" "$2" "$3"
    ran "suite GL $1" GL "Mesa's llvmpipe ${version#Mesa }" "$2" "the suite"
}

# What Vulkan's validation layer said while the tests ran.
validated() {
    if ! grep --text --quiet "Enables:.*SYNCHRONIZATION_VALIDATION" "$scratch/suite"; then
        echo "FAILED: Vulkan's validation layer was not active"
        failed=$((failed + 1))
    elif grep --text -E "Validation (Error|Warning)|(ERROR|WARNING) /" "$scratch/suite"; then
        failed=$((failed + 1))
    else
        echo "Vulkan's validation layer had nothing to report"
        passed=$((passed + 1))
    fi
}

# falls_back SYSTEM WHY VARIABLE...: the demo there, which must run on the CPU and say why.
falls_back() {
    local system=$1 why=$2
    shift 2
    if in_chroot "$system" env "$@" "$command" demo &>"$scratch/demo" &&
        grep --quiet "^Running on cpu (.*$why" "$scratch/demo"; then
        passed=$((passed + 1))
    else
        echo "FAILED: demo with $*, expected on the CPU for \"$why\""
        cat "$scratch/demo"
        failed=$((failed + 1))
    fi
    grep "^Running on" "$scratch/demo" || true
}

# refused SYSTEM API TEXT VARIABLE...: an adapter by name that cannot be used, which is one error.
refused() {
    local system=$1 api=$2 text=$3
    shift 3
    if ! in_chroot "$system" env "$@" "$command" verify --adapter "$api" \
        >"$scratch/report" 2>"$scratch/named" && [[ ! -s $scratch/report ]] &&
        (($(grep --count ^error: "$scratch/named") == 1)) &&
        grep --quiet "^error: adapter .*$text" "$scratch/named"; then
        passed=$((passed + 1))
    else
        echo "FAILED: verify --adapter $api with $*, expected one error with \"$text\""
        cat "$scratch/report" "$scratch/named"
        failed=$((failed + 1))
    fi
    grep ^error: "$scratch/named" || true
}

swiftshader() {
    local driver
    driver=$(find /usr/lib/chromium* /usr/share/chromium* /opt/google/chrome \
        -name vk_swiftshader_icd.json 2>/dev/null | head -n 1 || true)
    if [[ -z $driver ]]; then
        echo "SKIPPED: SwiftShader, as Chromium is not installed"
        skipped=$((skipped + 1))
        return
    fi
    for arguments in "" "--cases $(echo tests/conformance/{,*/}*.json)"; do
        # shellcheck disable=SC2086 # several arguments
        VK_DRIVER_FILES=$driver WGPU_BACKEND=vulkan "$command" verify --backend gpu $arguments
    done &>"$scratch/swiftshader" || true
    count "$scratch/swiftshader" 2
    ran swiftshader Vulkan "SwiftShader, of $(chromium_version)" "$(system_name)" \
        "built-in calls, recorded cases"
}

leave_if_lacking "$(chroot_lacks)" "${WGPU_GATHER_WANT_MESA:-}"
mkdir -p "$chroots/files"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
build_tests "$@"
make_chroot trixie mesa-vulkan-drivers libvulkan1 libegl1 libgl1-mesa-dri vulkan-validationlayers
suite_in trixie "gl vulkan" VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation "VK_LAYER_SETTINGS_PATH=$PWD/tests"
validated
suite_passed trixie "Debian 13" "the suite, under Vulkan's validation layer"
make_chroot testing mesa-vulkan-drivers libvulkan1 libegl1 libgl1-mesa-dri
suite_in testing gl "${no_vulkan[@]}"
suite_in testing vulkan "${no_gl[@]}"
suite_passed testing "Debian testing" "the suite"
plant_in testing
for system in trixie testing; do
    printf '\nadapters of Debian %s that cannot run gathers\n' $system
    softpipe=(GALLIUM_DRIVER=softpipe WGPU_BACKEND=gl)
    falls_back $system "softpipe (gl) lacks a compiler for the shaders" "${softpipe[@]}"
    refused $system gl "it lacks a compiler for the shaders" "${softpipe[@]}"
    falls_back $system "no GPU adapter" VK_DRIVER_FILES=/dev/null WGPU_BACKEND=vulkan
done
null_device=(RADV_FORCE_FAMILY=navi21 "VK_DRIVER_FILES=$drivers/radeon_icd.json" WGPU_BACKEND=vulkan)
falls_back trixie "lacks a device" "${null_device[@]}"
refused trixie vulkan "no device" "${null_device[@]}"
ran unfit "GL, Vulkan" "Mesa's softpipe, RADV's null device, no driver" "Debian 13, testing" \
    "\`auto\` takes the CPU path and says why"
printf '\nSwiftShader\n'
swiftshader
report
