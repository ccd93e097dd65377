#!/usr/bin/env bash
# Times the rules for bad indices on the shapes of `bench`: benches/results/rules.jsonl, and rules.txt, in
# which each time is one over that of zeros. Of three runs in turn, the least counts.
#
#   benches/rules.sh [ADAPTER]           on this machine's adapter of that name or API (vulkan)
#   WGPU_GATHER_SYSTEM=trixie            in that Debian, for its Mesa (see tests/chroot.sh)
#   SECONDS_EACH=0.2                     how long each case is repeated in each run
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tests/chroot.sh

adapter=${1:-vulkan} seconds=${SECONDS_EACH:-0.2}
rules=(zero clip fill=1 error wrap)
cases=(llm-prefill dlrm dlrm-i64 beam-ids top-k dense-columns dense-rows paged-kv gnn voxel voxel-rows
    pixels random-4b random-4b-cached u8-rows u8-rows-odd axis-1 axis-1-rows latency
    rows-bad-25 single-bad-25)

cargo build --release --workspace --all-features --locked --quiet
command=$PWD/target/release/wgpu-gather
here=()
if [[ -n ${WGPU_GATHER_SYSTEM:-} ]]; then
    here=(in_chroot "$WGPU_GATHER_SYSTEM")
fi
results=benches/results/rules
: >$results.jsonl
for case in "${cases[@]}"; do
    for _ in 1 2 3; do
        for rule in "${rules[@]}"; do
            "${here[@]}" "$command" bench --adapter "$adapter" --case "$case" --seconds "$seconds" \
                --out-of-bounds "$rule" --json >>$results.jsonl
        done
    done
done

field() { sed -E "s/.*\"$1\":\"?([^,\"]*)\"?,.*/\1/" $results.jsonl; }
{
    head -n 1 $results.jsonl | sed -E 's/.*"adapter":"([^"]*)".*"driver":"([^"]*)".*/\1, \2/'
    paste <(field case) <(field out_of_bounds) <(field p10_ms) | sed 's/fill=0x[0-9a-f]*/fill/' |
        awk '
            $3 !~ /^[0-9.]+$/ { next } # a call that fails gets no time
            !(($1, $2) in least) || $3 < least[$1, $2] { least[$1, $2] = $3 }
            !($1 in seen) { seen[$1] = 1; order[++count] = $1 }
            END {
                printf "%-17s %9s %6s %6s %6s %6s\n", "case", "zero, ms", "clip", "fill", "error", "wrap"
                for (n = 1; n <= count; n++) {
                    c = order[n]
                    printf "%-17s %9.3f", c, least[c, "zero"]
                    for (r = split("clip fill error wrap", rules); r > 0; r--)
                        line[r] = (c, rules[r]) in least ? least[c, rules[r]] / least[c, "zero"] : "-"
                    for (r = 1; r <= 4; r++) printf line[r] == "-" ? "      -" : " %6.2f", line[r]
                    printf "\n"
                }
            }'
} | tee $results.txt
