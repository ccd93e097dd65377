#!/usr/bin/env bash
# Writes into tests/ran.tsv, and from there into the table of docs/platforms.md, what has run where.
#
#   tests/ran.sh LOG   LOG is what scripts said, with the lines of `ran` in tests/chroot.sh. A line that has
#                      the key of an older one replaces it. GATHER_RENEW=1 .ci/run does this at its end
set -euo pipefail
log=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/.."

new=$(mktemp)
trap 'rm -f "$new"' EXIT
awk -F '\t' -v OFS='\t' -v date="$(date -u +%F)" '
    FNR == 1 { file++ }
    file == 1 && $1 == "RAN" {
        row[$2] = $2 OFS $3 OFS $4 OFS $5 OFS $6 OFS date
        order[++rows] = $2
    }
    file == 2 {
        print $1 in row ? row[$1] : $0
        delete row[$1]
    }
    END {
        for (n = 1; n <= rows; n++) if (order[n] in row) { print row[order[n]]; delete row[order[n]] }
    }
' "$log" tests/ran.tsv >"$new"
cat "$new" >tests/ran.tsv
GATHER_RENEW=1 cargo test --workspace --all-features --locked --test suite -- --quiet documents::where_it
