#!/usr/bin/env bash
# What the shaders touch, on lavapipe: every load and store of the calls within the memory that they were
# given, no word that two invocations race for, no loop too long for a driver, and no pipeline left out.
# Faults are planted, which must be reported. The sectors of memory that waves ask for are held against
# tests/sanitizer/sectors.csv.
#
#   tests/sanitizer.sh          checks all
#   tests/sanitizer.sh renew    writes the table anew; look at what git says of it then
#   tests/sanitizer.sh print    prints the table, and checks no fault
#   tests/sanitizer.sh planted  checks the faults alone
#   tests/sanitizer.sh long     makes the calls with long loops alone
#
# The last line is "N passed, M failed, K skipped": calls and planted faults.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tests/chroot.sh

what=${1:-check}
build_program wgpu-gather-sanitizer
arguments=("$what")
if [[ $what == check || $what == renew ]]; then
    arguments+=(tests/sanitizer/sectors.csv)
fi
XDG_RUNTIME_DIR=${XDG_RUNTIME_DIR:-/tmp} "$program" "${arguments[@]}"
