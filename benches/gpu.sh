#!/usr/bin/env bash
# All that is to be measured on a GPU, in one run: which adapter and driver, that results are right there, every
# case of `bench` against a copy and against what waves ask of memory, scatters and sorts in pairs a second,
# PyTorch on CUDA beside them where it is installed, plots, and the goals (benches/gpu/README.md).
#
#   benches/gpu.sh                        on the first adapter; results in benches/results/gpu/
#   benches/gpu.sh --adapter nvidia       on that one: part of its name, or its API (vulkan, metal, dx12, gl)
#   benches/gpu.sh --small                small sizes and a short proof, to see that it runs from start to end
#
#   --scale N        divides the rows of all cases (default: as `bench` has it)
#   --seconds S      how long each case is repeated (1)
#   --case NAME...   the cases: names or groups (all groups)
#   --random N       random calls of the proof (20,000); --programs N: random programs (1,000)
#   --tests          all tests of the suite, too, on all adapters of the machine
#   --out FOLDER     where the results go (benches/results/gpu/DATE-ADAPTER)
#
#   GATHER_COMMAND=PATH   the command, built before: with it, no Rust is needed
#   GATHER_SUITE=PATH     the tests, built before (README.md says how); without, no random programs
#   GATHER_PEERS=PATH     wgpu-gather-peers, built before: races gathers with PyTorch on CUDA in turns
#   GATHER_PYTHON=PATH    the Python that may have PyTorch (python3)
#   GATHER_TORCH=cpu      PyTorch on the CPU, to see that its part runs; 0 leaves it out
#   GATHER_PROFILE=dev    the profile to build with (release)
#
# What is not built is built, without the network where the crates are there. A part that fails does not end the
# run: it is named at the end, and the script fails. What cannot run here is named, too.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

adapter=() scale=() seconds=1 random=20000 programs=1000 tests=false out= small=false
cases=(shapes row-bytes elements bad quantised scatters bags sorts)
while (($#)); do
    case $1 in
        --adapter) adapter=(--adapter "$2") && shift 2 ;;
        --scale) scale=(--scale "$2") && shift 2 ;;
        --seconds) seconds=$2 && shift 2 ;;
        --random) random=$2 && shift 2 ;;
        --programs) programs=$2 && shift 2 ;;
        --tests) tests=true && shift ;;
        --out) out=$2 && shift 2 ;;
        --case)
            shift && cases=()
            while (($#)) && [[ $1 != --* ]]; do cases+=("$1") && shift; done
            ;;
        --small)
            small=true scale=(--scale 4096) seconds=0.002 random=300 programs=10
            # Outputs of the sweep over sizes are not divided.
            cases=(shapes row-bytes elements-2^10 elements-2^12 elements-2^14 bad quantised scatters bags sorts)
            shift
            ;;
        *)
            sed -n '2,/^set /s/^# \?//p' "${BASH_SOURCE[0]}" | sed '$d' >&2
            exit 2
            ;;
    esac
done

profile=${GATHER_PROFILE:-release} python=${GATHER_PYTHON:-python3}
failed=() left=()
started=$SECONDS

heading() { printf '\n=== %s (%d s)\n' "$1" $((SECONDS - started)); }

heading "programs"
if [[ -n ${GATHER_COMMAND:-} ]]; then
    command=$GATHER_COMMAND suite=${GATHER_SUITE:-}
else
    # Where all crates are there, no network is asked.
    offline=()
    cargo metadata --format-version 1 --locked --offline >/dev/null 2>&1 && offline=(--offline)
    built=$(cargo build --workspace --all-features --profile "$profile" --locked "${offline[@]}" \
        --test suite --bin wgpu-gather --message-format=json-render-diagnostics)
    # path_of NAME: the program that was built under that name.
    path_of() { sed -n "s/.*\"name\":\"$1\".*\"executable\":\"\([^\"]*\)\".*/\1/p" <<<"$built" | tail -n 1; }
    command=$(path_of wgpu-gather) suite=$(path_of suite)
fi
printf '%s\n' "$command" "$suite"

# What waits for an adapter fails at once where there is none.
heading "adapter"
"$command" adapters
first=$("$command" bench --backend gpu "${adapter[@]}" --case latency --seconds 0.001 --json 2>/dev/null) ||
    { echo "no adapter: ${adapter[*]:-any}" >&2 && exit 1; }
# text NAME: of that line.
text() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" <<<"$first"; }
name=$(text adapter) driver=$(text driver) date=$(date -u +%F)
software=$(sed 's/.*"software_adapter":\([a-z]*\).*/\1/' <<<"$first")
printf '%s; driver %s\n' "$name" "$driver"
slug=$(tr -cs 'A-Za-z0-9' - <<<"$name" | sed 's/^-//; s/-$//')
out=${out:-benches/results/gpu/$date-$slug}
mkdir -p "$out"
commit=$(git rev-parse --short HEAD 2>/dev/null || echo unknown)
printf '{"date":"%s","adapter":"%s","driver":"%s","software_adapter":%s,"commit":"%s","small":%s}\n' \
    "$date" "$name" "$driver" "$software" "$commit" "$small" >"$out/run.json"

# part NAME COMMAND...: what it says goes to NAME.txt, too.
part() {
    local file=$out/$1.txt
    heading "$1"
    shift
    "$@" 2>&1 | tee "$file" || failed+=("${file##*/}")
}

# What is right does not depend on time: all of the proof at once. proof NAME COMMAND...
running=()
proof() {
    local file=$out/$1.txt
    shift
    "$@" >"$file" 2>&1 &
    running+=("$!:$file")
}
# proved: waits for all of it.
proved() {
    local each
    for each in "${running[@]}"; do
        wait "${each%%:*}" || failed+=("${each##*/}")
        printf -- '--- %s (%d s)\n' "${each##*/}" $((SECONDS - started))
        tail -n 3 "${each#*:}"
    done
}
heading "proof"
verify=("$command" verify --backend gpu "${adapter[@]}")
proof proof-pipelines "${verify[@]}" --pipelines
proof proof-random "${verify[@]}" --random "$random" --seed 1
# Each of them takes as much as many of the others.
proof proof-large "${verify[@]}" --random "$((random / 20 + 1))" --large --seed 1
if [[ -n $suite ]]; then
    proof programs env GATHER_PROGRAMS="$programs" "$suite" programs::engines_do --nocapture
    ! $tests || proof tests "$suite"
else
    left+=("random programs: no tests that were built (GATHER_SUITE)")
fi
proved
# As `ran` in tests/chroot.sh, for docs/platforms.md: tests/ran.sh reads it from what this script said.
if [[ $software == false ]] && ((${#failed[@]} == 0)); then
    api=$(sed 's/.*(\(.*\))$/\1/; s/^vulkan$/Vulkan/; s/^metal$/Metal/; s/^dx12$/DX12/; s/^gl$/GL/' <<<"$name")
    ran="built-in calls over every pipeline, $random random calls${suite:+, $programs random programs}"
    printf 'RAN\tgpu %s\t%s\t%s\t%s\t%s\n' "$name" "$api" "$driver" "${name% (*}" "$ran"
fi

heading "every case"
bench=(bench --backend gpu "${adapter[@]}" --case "${cases[@]}" "${scale[@]}")
"$command" "${bench[@]}" --dispatches --seconds "$seconds" --json >"$out/bench.jsonl" || failed+=(bench.jsonl)
"$command" bench --from "$out/bench.jsonl" --plot "$out/bench.svg" | tee "$out/bench.txt" ||
    failed+=(bench.txt)

device=${GATHER_TORCH:-cuda}
has_torch() { "$python" benches/gpu/torch_cases.py --device "$device" --ask; }
if [[ $device != 0 ]] && why=$(has_torch 2>&1); then
    # The sizes at which the cases ran, which may be smaller than was asked for.
    part torch "$python" benches/gpu/torch_cases.py --device "$device" --cases "$out/bench.jsonl" \
        --seconds "$seconds" --out "$out/torch.jsonl"
else
    left+=("PyTorch: ${why:-left out by GATHER_TORCH=0}")
fi

# Both in turns, with outputs compared; its program needs crates that nothing else needs.
if [[ -n ${GATHER_PEERS:-} && $device == cuda && -z ${why:-} ]]; then
    part peers "$python" benches/peers/python/run.py --server "$GATHER_PEERS" --adapter "${adapter[1]:-nvidia}" \
        --case "${cases[@]}" --out "$out/peers-cuda-python.jsonl"
fi

if "$python" --version >/dev/null 2>&1; then
    part goals "$python" benches/gpu/goals.py "$out"
else
    left+=("goals: no python3")
fi

heading "results"
ls "$out"
((${#left[@]} == 0)) || printf 'NOT RUN: %s\n' "${left[@]}"
if ((${#failed[@]})); then
    printf 'FAILED: %s\n' "${failed[@]}"
    exit 1
fi
