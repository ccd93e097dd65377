#!/usr/bin/env bash
# What the shaders touch, on lavapipe: every load and store of the calls within the memory that they were
# given, no word that two invocations race for, no loop too long for a driver, and no pipeline left out.
# Faults are planted, which must be reported. The sectors of memory that waves ask for are held against
# tables: of each pipeline in all calls (tests/sanitizer/sectors.csv), and of each binding in calls that have
# the shapes of the benchmarks, against what has to be moved (cli/src/bench/traffic.csv).
#
#   tests/sanitizer.sh          checks all
#   tests/sanitizer.sh renew    writes the tables anew; look at what git says of them then
#   tests/sanitizer.sh traffic  prints the second table, and what is beyond its bounds
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
    arguments+=(tests/sanitizer)
fi
XDG_RUNTIME_DIR=${XDG_RUNTIME_DIR:-/tmp} "$program" "${arguments[@]}"
