#!/usr/bin/env bash
# The cases of `wgpu-gather bench` against other libraries, and one table of ratios. README.md says
# what is compared. Runs from any directory. The arguments --case, --pattern, --scale, --memory and
# --seconds go to every part:
#
#   benches/peers/run.sh --case dlrm voxel --seconds 1 --memory 8
#
#   PEERS_OUT=FOLDER    where the results go (default: benches/results)
#   PEERS_PYTHON=PATH   the Python that has the libraries (default: python3)
#   PEERS_ADAPTER=TEXT  the adapter to race on (default: the first)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

out=${PEERS_OUT:-../results}
python=${PEERS_PYTHON:-python3}
adapter=(${PEERS_ADAPTER:+"--adapter=$PEERS_ADAPTER"})
mkdir -p "$out"

cargo build --release --locked
peers=${CARGO_TARGET_DIR:-target}/release/wgpu-gather-peers

# part NAME COMMAND...: one part, whose results are in NAME.jsonl. A part that cannot run here is
# named, and the table has the others.
part() {
    local file=$out/$1.jsonl
    shift
    printf '\n=== %s\n' "${file##*/}" >&2
    "$@" --out "$file" >/dev/null || printf 'NOT COMPLETE: %s\n' "$file" >&2
}

# Results of other processors stand beside these.
processor=$(awk -F': ' '/^vendor_id/ && !v { v = $2 } /^model\t/ && !m { m = $2 }
    END { print v "-" m }' /proc/cpuinfo | tr '[:upper:]' '[:lower:]')
part "peers-cpu-$processor" "$peers" cpu "$@"
part "peers-cpu-$processor-python" "$python" python/run.py --server "$peers" "$@"
part peers-gpu "$peers" gpu "${adapter[@]}" "$@"
if "$python" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then
    part peers-cuda-python "$python" python/run.py --server "$peers" \
        --adapter "${PEERS_ADAPTER:-nvidia}" "$@"
else
    echo 'peers-cuda-python: no NVIDIA GPU, or no PyTorch with CUDA' >&2
fi

# Scatters and pooled lookups: a table of their own.
folds=$out/folds
mkdir -p "$folds"
threads=$(nproc)
"$peers" folds --out "$folds/$processor-$threads-rust.jsonl"
"$python" python/folds.py --server "$peers" --out "$folds/$processor-$threads-python.jsonl"
taskset -c 0 "$python" python/folds.py --server "$peers" \
    --out "$folds/$processor-1-python.jsonl"
"$peers" folds --adapter "${PEERS_ADAPTER:-vulkan}" --out "$out/folds-gpu.jsonl" | tee "$out/folds-gpu.txt"
"$peers" folds-table "$folds"/*.jsonl | tee "$out/folds.txt"

"$peers" table "$out"/peers-*.jsonl | tee "$out/peers.txt"
