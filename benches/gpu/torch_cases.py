#!/usr/bin/env python3
"""The cases of `wgpu-gather bench` in PyTorch, on the same device in the same run: README.md says what is
compared. Shapes, types and patterns are those of the cases; the numbers are drawn by PyTorch."""

import argparse
import json
import statistics
import sys
import time

# How long a batch should take, in seconds, so that starting it does not count.
BATCH = 5e-3
MOST = 256
ROUNDS = 3
ZIPF_EXPONENT = 1.05
DTYPES = {"f32": "float32", "f16": "float16", "bf16": "bfloat16", "i32": "int32", "i8": "int8", "u8": "uint8"}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--ask", action="store_true", help="only say whether PyTorch has the device")
    parser.add_argument("--cases", help="what `bench --json` printed")
    parser.add_argument("--seconds", type=float, default=0.5, help="for each call on each case")
    parser.add_argument("--out", help="where the results go, as lines of JSON")
    return parser.parse_args()


class Bench:
    def __init__(self, torch, device, seconds):
        self.torch, self.device, self.seconds = torch, device, seconds
        torch.set_grad_enabled(False)

    def batch(self, call, repeats):
        """Milliseconds of one of `repeats` calls, by the device's own clock where it has one."""
        if self.device == "cpu":
            started = time.perf_counter()
            for _ in range(repeats):
                call()
            return 1e3 * (time.perf_counter() - started) / repeats
        cuda = self.torch.cuda
        first, last = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
        first.record()
        for _ in range(repeats):
            call()
        last.record()
        cuda.synchronize()
        return first.elapsed_time(last) / repeats

    def times(self, call):
        self.batch(call, 1)
        one = self.batch(call, 1)
        repeats = min(max(1, int(1e3 * BATCH / max(one, 1e-4))), MOST)
        found, started = [], time.perf_counter()
        while len(found) < ROUNDS or time.perf_counter() - started < self.seconds:
            found.append(self.batch(call, repeats))
        return found

    def values(self, shape, dtype):
        values = self.torch.randint(-8, 8, shape, device=self.device, dtype=self.torch.int32)
        return values.to(getattr(self.torch, DTYPES[dtype]))

    def ids(self, count, rows, pattern):
        """So many ids of that pattern, or None where PyTorch's part does not have it."""
        torch, drawn = self.torch, None
        if pattern in ["random", "sorted"]:
            drawn = torch.randint(0, rows, (count,), device=self.device)
        elif pattern == "same":
            drawn = torch.full((count,), rows // 2, device=self.device)
        elif pattern == "zipf":
            # Row k of a number whose (1 - exponent)th power is drawn evenly: about 1 / k^exponent.
            power = 1.0 - ZIPF_EXPONENT
            even = torch.rand(count, device=self.device, dtype=torch.float64)
            drawn = (1.0 + even * (rows**power - 1.0)) ** (1.0 / power) - 1.0
        if pattern == "sorted":
            drawn = drawn.sort().values
        return None if drawn is None else drawn.clamp(0, rows - 1).to(torch.int32)


def only_deterministic(torch, call):
    """`call` while PyTorch refuses whatever depends on the order of threads."""

    def run():
        torch.use_deterministic_algorithms(True)
        try:
            return call()
        finally:
            torch.use_deterministic_algorithms(False)

    return run


def calls(bench, case):
    """What PyTorch has for a case: names and functions; nothing where it has nothing."""
    torch = bench.torch
    params, indices = case["params_shape"], case["indices_shape"]
    rows = case["op"] in ["gather", "scatter", "scatter_into", "embedding_bag"]
    plain = case.get("format") is None and case["bad"] == 0 and case["batch_dims"] == 0
    if not plain or case["dtype"] not in DTYPES or not rows or (case["axis"] or 0) != 0:
        return
    count = 1
    for dim in indices:
        count *= dim
    ids = bench.ids(count, params[0], case["pattern"])
    if ids is None:
        return
    table = bench.values(params, case["dtype"])
    if case["op"] == "gather":
        yield "index_select", lambda: torch.index_select(table, 0, ids)
        return
    if case["op"] == "embedding_bag":
        if table.is_floating_point():
            bags = ids.reshape(indices)
            bag = torch.nn.functional.embedding_bag
            yield "embedding_bag", lambda: bag(bags, table, mode="sum")
        return
    if case["group"] == "sorts":
        # Of the same keys, with their positions.
        yield "sort(stable=True)", lambda: torch.sort(ids, stable=True)
    updates = bench.values([count, *params[1:]], case["dtype"])
    if case["reduce"] == "add":
        if case["op"] == "scatter":
            add = lambda: torch.index_add(table, 0, ids, updates)
        else:
            add = lambda: table.index_add_(0, ids, updates)
        yield "index_add", add
        yield "index_add, deterministic", only_deterministic(torch, add)
    elif case["reduce"] == "max":
        yield "index_reduce", lambda: table.index_reduce_(0, ids, updates, "amax")
    elif case["reduce"] == "none":
        wide = ids.long()
        yield "index_copy", lambda: table.index_copy_(0, wide, updates)


def main():
    args = arguments()
    try:
        import torch
    except ImportError:
        sys.exit("PyTorch is not installed")
    if args.device == "cuda" and not torch.cuda.is_available():
        sys.exit("no NVIDIA GPU, or a PyTorch without CUDA")
    if args.ask:
        return
    device = torch.cuda.get_device_name() if args.device == "cuda" else "cpu"
    bench = Bench(torch, args.device, args.seconds)
    print(f"PyTorch {torch.__version__} on {device}")
    too_large = (torch.cuda.OutOfMemoryError, RuntimeError, NotImplementedError)
    with open(args.cases, encoding="utf-8") as cases, open(args.out, "w", encoding="utf-8") as out:
        for case in map(json.loads, cases):
            if case.get("median_ms") is None:
                continue
            line = {name: case[name] for name in ["case", "scale"]}
            line |= {"torch": torch.__version__, "device": device}
            try:
                for name, call in calls(bench, case):
                    times = sorted(bench.times(call))
                    median = statistics.median(times)
                    ratio = case["median_ms"] / median
                    found = {"call": name, "median_ms": median, "rounds": len(times), "ours": ratio}
                    print(json.dumps(line | found), file=out, flush=True)
                    print(f"{case['case']:18} {median:10.4f} ms, ours {ratio:7.2f} times as long: {name}")
            except too_large as error:
                why = str(error).splitlines()[0]
                print(json.dumps(line | {"skipped": why}), file=out, flush=True)
                print(f"{case['case']:18} skipped: {why}")


if __name__ == "__main__":
    main()
