# What building for browsers and testing in one needs. Sourced by the scripts beside it.
# shellcheck shell=bash

browser_target=wasm32-unknown-unknown

# has_target: whether Rust has its standard library for browsers.
has_target() {
    local libraries
    # shellcheck disable=SC2086 # several flags
    libraries=$(rustc ${CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS:-} \
        --print target-libdir --target "$browser_target" 2>/dev/null) || return
    compgen -G "$libraries/libcore-*.rlib" >/dev/null
}

# with_sources: a rustc, new enough, with the sources of its standard library: that of rustup with
# its component rust-src, or Debian's, whose packages are rustc-web and rust-web-src.
with_sources() {
    local rustc minor least
    least=$(sed -n 's/^rust-version = "1\.\(.*\)"$/\1/p' Cargo.toml)
    for rustc in rustc /usr/bin/rustc; do
        minor=$("$rustc" --version 2>/dev/null | sed -n 's/^rustc 1\.\([0-9]*\)\..*/\1/p')
        if ((${minor:-0} >= least)) &&
            [[ -f $("$rustc" --print sysroot)/lib/rustlib/src/rust/library/Cargo.lock ]]; then
            command -v "$rustc"
            return
        fi
    done
    return 1
}

has_rust() {
    has_target || with_sources >/dev/null
}

# browser_cargo COMMAND ARGUMENT...: cargo for browsers. Without the target, it builds the standard library
# from its sources first. That is not stable in cargo yet, hence the variable RUSTC_BOOTSTRAP.
browser_cargo() {
    local command=$1 compiler linker
    shift
    if has_target; then
        cargo "$command" --target "$browser_target" "$@"
        return
    fi
    compiler=$(with_sources)
    linker=$(compgen -G "$(rustc --print sysroot)/lib/rustlib/*/bin/rust-lld" || true)
    RUSTC=$compiler RUSTC_BOOTSTRAP=1 CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=${linker:-rust-lld} \
        cargo "$command" --target "$browser_target" -Zbuild-std=std,panic_abort "$@"
}

has_npm() {
    command -v npm >/dev/null
}

has_chromium() {
    [[ -n ${CHROMIUM:-} ]] ||
        command -v chromium chromium-browser google-chrome google-chrome-stable >/dev/null
}

# chromium_version: its name and first number: `Chromium 156`.
chromium_version() {
    local program
    program=${CHROMIUM:-$(command -v chromium chromium-browser google-chrome google-chrome-stable | head -n 1)}
    "$program" --version 2>/dev/null | sed -n 's/^\([A-Za-z ]*[0-9]*\)\..*/\1/p'
}
