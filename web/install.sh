#!/usr/bin/env bash
# Installs what web/test.sh needs and this machine lacks: with rustup, and from the system's package
# manager if that needs no password. Says by name what it could not install.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. ./needs.sh

as_root() {
    if [[ $(id -u) == 0 ]]; then
        "$@"
    else
        sudo --non-interactive "$@"
    fi
}

packages() {
    if command -v apt-get >/dev/null; then
        as_root apt-get update --quiet=2
        as_root env DEBIAN_FRONTEND=noninteractive \
            apt-get install --quiet=2 --yes --no-install-recommends "$@"
    elif command -v dnf >/dev/null; then
        as_root dnf install --quiet --assumeyes "$@"
    elif command -v pacman >/dev/null; then
        as_root pacman --sync --refresh --noconfirm --needed "$@"
    elif command -v apk >/dev/null; then
        as_root apk add --quiet "$@"
    else
        return 1
    fi
}

# The target; where rustup cannot get it, Debian's Rust for browsers with its sources.
rust() {
    rustup target add "$browser_target" || packages rustc-web rust-web-src
}

# lacking NAME CHECK COMMAND...: unless CHECK says that it is there, installs it.
lacking() {
    local name=$1 check=$2
    shift 2
    if "$check"; then
        return
    fi
    echo "installing $name"
    if ! "$@" >"$log" 2>&1 || ! "$check"; then
        tail -n 5 "$log"
        echo "NOT INSTALLED: $name"
    fi
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
lacking "Rust for browsers" has_rust rust
lacking "npm" has_npm packages npm
lacking "Chromium" has_chromium packages chromium
