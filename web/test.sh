#!/usr/bin/env bash
# Builds the package and the page and tests them: the types with TypeScript, the rest in headless
# Chromium, with WebGPU in software. Says by name what is missing here (web/install.sh installs it);
# that is a failure with WGPU_GATHER_WANT_BROWSER=1.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. ./needs.sh
. ../tests/chroot.sh

missing=()
has_rust || missing+=("Rust's target for browsers (rustup target add $browser_target)")
has_npm || missing+=("Node.js with npm")
has_chromium || missing+=("Chromium (on Debian: chromium)")
if ((${#missing[@]} > 0)); then
    printf 'NOT RUN, missing here: %s\n' "${missing[@]}"
    [[ ${WGPU_GATHER_WANT_BROWSER:-0} != 1 ]]
    exit
fi

cargo fmt --all --check
if has_target; then
    browser_cargo clippy --release --locked -- -D warnings
else
    echo "NOT RUN: lints of the binding, without Rust's target for browsers"
fi
cargo clippy --locked --package bindgen -- -D warnings
./build.sh
npm ci --no-audit --no-fund
npm run types
node test/browser.js
ran browser WebGPU "$(chromium_version) on SwiftShader" "$(system_name)" \
    "built-in and random calls, recorded cases of all three schemas, the page"
