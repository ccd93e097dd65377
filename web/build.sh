#!/usr/bin/env bash
# Builds the package and the page into web/dist. Needs Rust with its target for browsers
# (rustup target add wasm32-unknown-unknown), or with the sources of its standard library.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. ./needs.sh

if ! has_rust; then
    echo "Rust's target for browsers is needed: rustup target add $browser_target" >&2
    exit 1
fi
browser_cargo build --release --locked
folder=$(cargo metadata --no-deps --format-version 1 --locked |
    sed 's/.*"target_directory":"\([^"]*\)".*/\1/; s/\\\\/\//g')

rm -rf dist
mkdir -p dist/conformance
cargo run --quiet --locked --package bindgen -- \
    "$folder/$browser_target/release/wgpu_gather_web.wasm" dist
cp package/* page/* dist/
cp -r ../tests/conformance/*.json ../tests/conformance/{folds,quantized} dist/conformance/
wasm=dist/raw_bg.wasm
echo "$wasm: $(wc -c <"$wasm") bytes, $(gzip -9 -c "$wasm" | wc -c) with gzip"
