# The adapters of this machine, and Mesa's software drivers where there are none. Sourced, from the root
# of the checkout, with tests/chroot.sh, once the command is built.
# shellcheck shell=bash

# list_adapters ARGUMENT...: as the command sees them.
list_adapters() {
    local target
    target=$(cargo metadata --no-deps --format-version 1 --locked |
        sed 's/.*"target_directory":"\([^"]*\)".*/\1/; s/\\\\/\//g')
    "$target/debug/wgpu-gather" adapters "$@"
}

# able_apis: the APIs of adapters that can run gathers, one a line.
able_apis() {
    list_adapters --json | apis_of
}

# apis_of: the same of a list that is read, as JSON.
apis_of() {
    awk -F '"' '
        $2 == "api" { api = $4 }
        $2 == "lacks" && / null/ { print api }
    ' | sort -u
}

# What hides drivers from their loaders, as if they were not installed.
# shellcheck disable=SC2034 # for who sources this
no_vulkan=(VK_DRIVER_FILES=/nonexistent VK_ICD_FILENAMES=/nonexistent)
# shellcheck disable=SC2034
no_gl=(__EGL_VENDOR_LIBRARY_FILENAMES=/nonexistent __EGL_VENDOR_LIBRARY_DIRS=/nonexistent)

# adapters_suffice: whether the tests have what they want: an adapter; in CI on Linux, Vulkan and GL.
adapters_suffice() {
    local found
    found=" $(able_apis | tr '\n' ' ')"
    if [[ -n ${CI:-} && -z ${WGPU_BACKEND:-} && $(uname -s) == Linux ]]; then
        [[ $found == *" vulkan "* && $found == *" gl "* ]]
    else
        [[ $found != " " ]]
    fi
}

as_root() {
    if [[ $(id -u) == 0 ]]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        echo "To be run as root: $*"
        return 1
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

# Lists the adapters; installs Mesa's drivers before, if one is missing and that is allowed.
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

# note_runs: for docs/platforms.md, which adapters the suite has passed on (see `ran` in tests/chroot.sh).
note_runs() {
    local where api name driver compiler
    where=$(system_name)
    list_adapters --json | awk -F '"' -v OFS='|' '
        $2 == "api" { api = $4 }
        $2 == "driver" { driver = $4 }
        $2 == "lacks" { able = / null/ }
        $2 == "name" && able { print api, $4, driver }
    ' | while IFS='|' read -r api name driver; do
        compiler="$name, $driver"
        if [[ $name == llvmpipe* && $driver =~ Mesa\ ([0-9.]+) ]]; then
            compiler=${BASH_REMATCH[1]}
            [[ $api == gl ]] && compiler="Mesa's llvmpipe $compiler" || compiler="Mesa's lavapipe $compiler"
        fi
        case $api in
            gl) api=GL ;;
            dx12) api=DX12 ;;
            *) api=${api^} ;;
        esac
        ran "suite $api machine" "$api" "$compiler" "$where" "the suite"
    done
}
