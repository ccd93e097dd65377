#!/usr/bin/env bash
# The proof on DX12, on Debian without Windows: the command and the tests, built for Windows, run
# under Wine, whose d3d12 runs on Mesa's lavapipe, with the shaders compiled by Microsoft's FXC, as
# wgpu has it where there is no dxcompiler.dll. All pipelines go through DXC as well, which only
# compiles. Fetches what it needs: a Debian 13 in a folder, with Wine and Mesa, the compiler for
# Windows, Rust's target; the two shader compilers, which are Microsoft's, from their npm package.
#
#   WGPU_GATHER_WANT_DX12=1 fails where it cannot run, instead of saying so; 0 leaves it out
#   WGPU_GATHER_CHROOTS=DIR     where what is fetched is kept (see tests/chroot.sh)
#   GATHER_RANDOM=10000         how many random calls are checked; WGPU_GATHER_DX12_CASES=1000: by the
#                               tests; GATHER_LARGE=60: large ones, by the tests
#   WGPU_GATHER_DX12_PROGRAMS=200  how many random programs the tests run, and a tenth with a lost device
#   WGPU_GATHER_DX12_FAULTS=1   plants faults in the shaders, too, which takes a quarter of an hour more at least
#
# The last line is "N passed, M failed, K skipped". What was skipped is named before it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tests/chroot.sh

target=x86_64-pc-windows-gnu
system=trixie
npm_package=webgpu@0.6.2
compilers=$chroots/files/${npm_package/@/-}

lacking() {
    chroot_lacks
    if ! command -v rustup >/dev/null; then
        compgen -G "$(rustc --print target-libdir --target $target)/libcore-*.rlib" >/dev/null ||
            echo "rustup, or Rust's target $target"
    fi
}

# The shader compilers, out of the package.
fetch_compilers() {
    if [[ -f $compilers/dxcompiler.dll ]]; then
        return
    fi
    command -v npm >/dev/null || install npm
    echo "fetching the shader compilers from $npm_package"
    (cd "$scratch" && npm pack --silent "$npm_package" >/dev/null && tar xzf ./*.tgz)
    mkdir -p "$compilers"
    mv "$scratch"/package/dist/win32-x64/{d3dcompiler_47,dxcompiler}.dll "$compilers"
}

set_up() {
    make_chroot $system wine wine64 libwine mesa-vulkan-drivers libvulkan1 xvfb xauth libgl1 \
        libgl1-mesa-dri libegl1 libglx-mesa0 libosmesa6 libxcursor1 libxi6 libxinerama1 libxrandr2 \
        libxxf86vm1 libxcomposite1
    install gcc-mingw-w64-x86-64-posix g++-mingw-w64-x86-64-posix mingw-w64-x86-64-dev
    ! command -v rustup >/dev/null || rustup target add $target
    fetch_compilers
}

# What runs in Wine: the calls beside the tests, as both keep one core busy. The shader compilers lie
# where Windows has them, but for DXC: if wgpu's backend finds it, it wants a newer d3d12 than Wine's.
proof() {
    local suite=$1 command=$2 compilers=$3 out=$4 random=$5
    shift 5
    wineboot --init &>/dev/null
    cp "$compilers/d3dcompiler_47.dll" "$WINEPREFIX/drive_c/windows/system32"
    wine "$command" adapters
    {
        wine "$command" verify --backend gpu --adapter dx12
        wine "$command" verify --backend gpu --adapter dx12 --cases "$@"
        wine "$command" verify --backend gpu --adapter dx12 --random "$random"
    } &>"$out/calls" || true &
    # One test more than there are cores, as each waits at times.
    # shellcheck disable=SC2086 # several arguments
    wine "$suite" --test-threads "$(($(nproc) + 1))" --show-output \
        --skip on_the_host $FAULTS_LEFT_OUT &>"$out/suite" || true
    wait
}

# With descriptors in heaps of Vulkan's, Wine's d3d12 now and then loses counts of bad indices where many
# programs share a device; without, it does not. Each device that is lost keeps its memory to the end.
run_proof() {
    local left_out="--skip ::faults_of_ --skip ::faults_in_"
    if [[ ${WGPU_GATHER_DX12_FAULTS:-} == 1 ]]; then
        left_out=
    else
        echo "NOT RUN: faults planted in shaders on DX12 (WGPU_GATHER_DX12_FAULTS=1)"
    fi
    # shellcheck disable=SC2016 # for the inner shell
    in_chroot $system env WINEDEBUG=-all WINEPREFIX=/var/lib/wine WGPU_BACKEND=dx12 \
        VKD3D_CONFIG=virtual_heaps FAULTS_LEFT_OUT="$left_out" \
        GATHER_PROGRAMS="${WGPU_GATHER_DX12_PROGRAMS:-200}" \
        WINEDLLOVERRIDES="mscoree,mshtml=;d3dcompiler_47=n" WGPU_DX12_COMPILER=fxc \
        WGPU_GATHER_DXC="Z:$compilers/dxcompiler.dll" GATHER_CASES="${WGPU_GATHER_DX12_CASES:-1000}" \
        xvfb-run --auto-servernum --server-args='-screen 0 640x480x24 -nolisten tcp' \
        bash -uc "$(declare -f proof); proof \"\$@\"" bash "$suite" "$command.exe" "$compilers" \
        "$scratch" "${GATHER_RANDOM:-10000}" tests/conformance/{,*/}*.json
}

leave_if_lacking "$(lacking)" "${WGPU_GATHER_WANT_DX12:-}"
mkdir -p "$chroots/files"
scratch=$(mktemp -d -p "$chroots/files")
trap 'rm -rf "$scratch"' EXIT
set_up
CARGO_PROFILE_DEV_DEBUG=0 build_tests --target $target
run_proof
count "$scratch/suite" 1
count "$scratch/calls" 3

# version_of FILE: the version in a library for Windows.
version_of() {
    tr -d '\0' <"$compilers/$1" | grep --text -o 'FileVersion[^0-9]*[0-9.]*' | grep -o '[0-9.]*$'
}
# "wine-10.0 (Debian 10.0~repack-6)"
wine=$(in_chroot $system wine --version | sed 's/^wine-//; s/ .*//')
ran "dx12 fxc" DX12 "FXC $(version_of d3dcompiler_47.dll)" "Wine $wine on $(mesa_of $system)" \
    "the suite, built-in calls, recorded cases, ${GATHER_RANDOM:-10000} random calls"
ran "dx12 dxc" DX12 "DXC $(version_of dxcompiler.dll)" "Wine $wine" \
    "compiles every pipeline; nothing is executed"
report
