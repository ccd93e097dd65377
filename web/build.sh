#!/usr/bin/env bash
# Builds the package and the page into web/dist. Needs Rust with its target for browsers
# (rustup target add wasm32-unknown-unknown) and wasm-bindgen's command, of the version that
# Cargo.toml names; with --check, says only whether it is there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

target=wasm32-unknown-unknown
# The command and the library must be of one version.
version=$(sed -n 's/^wasm-bindgen = "=\(.*\)"$/\1/p' Cargo.toml)
if [[ $(wasm-bindgen --version 2>/dev/null || true) != "wasm-bindgen $version" ]]; then
    echo "wasm-bindgen $version is needed: cargo install wasm-bindgen-cli --version $version" >&2
    exit 1
fi
if [[ ${1:-} == --check ]]; then
    exit
fi

cargo build --release --locked --target "$target"
folder=$(cargo metadata --no-deps --format-version 1 --locked |
    sed 's/.*"target_directory":"\([^"]*\)".*/\1/; s/\\\\/\//g')

rm -rf dist
mkdir -p dist/conformance
wasm-bindgen --target web --remove-name-section --remove-producers-section --out-dir dist --out-name raw \
    "$folder/$target/release/wgpu_gather_web.wasm"
cp package/* page/* dist/
cp ../tests/conformance/*.json dist/conformance/
wasm=dist/raw_bg.wasm
echo "$wasm: $(wc -c <"$wasm") bytes, $(gzip -9 -c "$wasm" | wc -c) with gzip"
