#!/usr/bin/env bash
# Builds the package and the page and tests them in headless Chromium, with WebGPU in software.
# Says by name what is missing here; that is a failure with WGPU_GATHER_WANT_BROWSER=1.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

missing=()

# needs NAME COMMAND...: notes NAME if the command fails.
needs() {
    local name=$1
    shift
    "$@" >/dev/null 2>&1 || missing+=("$name")
}

has_target() {
    local libraries
    # shellcheck disable=SC2086 # several flags
    libraries=$(rustc ${CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS:-} \
        --print target-libdir --target wasm32-unknown-unknown)
    compgen -G "$libraries/libcore-*.rlib"
}

has_chromium() {
    [[ -n ${CHROMIUM:-} ]] ||
        command -v chromium chromium-browser google-chrome google-chrome-stable
}

needs "Rust's target for browsers (rustup target add wasm32-unknown-unknown)" has_target
needs "wasm-bindgen (web/build.sh says which version)" ./build.sh --check
needs "Node.js with npm" command -v npm
needs "Chromium (on Debian: chromium)" has_chromium
if ((${#missing[@]} > 0)); then
    printf 'NOT RUN, missing here: %s\n' "${missing[@]}"
    [[ -z ${WGPU_GATHER_WANT_BROWSER:-} ]]
    exit
fi

cargo fmt --check
cargo clippy --release --locked --target wasm32-unknown-unknown -- -D warnings
./build.sh
npm ci --no-audit --no-fund
node test/browser.js
