#!/usr/bin/env python3
"""Holds what benches/gpu.sh measured against the goals in README.md: goals.py FOLDER."""

import json
import pathlib
import sys

# Bytes of an element.
WIDTHS = {"f32": 4, "i32": 4, "f16": 2, "bf16": 2, "i8": 1}


def lines(path):
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def row_bytes(case):
    return case["params_shape"][-1] * WIDTHS[case["dtype"]]


def is_add(case):
    return case["op"] == "scatter_into" and case.get("reduce") == "add"


def is_random(case):
    return case["pattern"] == "random"


# What must be true of a case for a goal to be meant, and the least share of a copy.
OF_COPY = [
    (
        "sort: of a copy at 24 bytes for 8 bits of key",
        "sort_fraction",
        0.5,
        lambda case: case["group"] == "sorts",
    ),
    (
        "add rows of 512 bytes and more: of a copy",
        "fraction",
        0.65,
        lambda case: is_add(case) and is_random(case) and row_bytes(case) >= 512,
    ),
    (
        "add rows of 128 bytes: of a copy",
        "fraction",
        0.45,
        lambda case: is_add(case) and is_random(case) and row_bytes(case) == 128,
    ),
    (
        "add rows by sorted ids: of a copy",
        "fraction",
        0.85,
        lambda case: is_add(case) and case["pattern"] == "sorted",
    ),
    ("bags: of a copy", "fraction", 0.8, lambda case: case["group"] == "bags" and is_random(case)),
]
# The same against PyTorch: our time is at most so many times its own.
OF_TORCH = [
    ("time over that of PyTorch's index_add (atomics)", "index_add", 1.6),
    ("time over that of its deterministic index_add", "index_add, deterministic", 1 / 3),
]


def found(measured, torch):
    """Goal, case, figure, what is wanted, whether it is met."""
    for goal, figure, least, meant in OF_COPY:
        for case in filter(meant, measured):
            yield goal, case["case"], case[figure], f"at least {least:.2f}", case[figure] >= least
    cases = {case["case"]: case for case in measured}
    for goal, call, most in OF_TORCH:
        for line in torch:
            case = cases.get(line["case"])
            if line.get("call") == call and case and case["op"] == "scatter_into":
                yield goal, line["case"], line["ours"], f"at most {most:.2f}", line["ours"] <= most


def main():
    folder = pathlib.Path(sys.argv[1])
    measured = [case for case in lines(folder / "bench.jsonl") if "median_ms" in case]
    torch = lines(folder / "torch.jsonl")
    last = None
    for goal, case, figure, wanted, met in found(measured, torch):
        if goal != last:
            print(goal)
            last = goal
        print(f"  {case:18} {figure:7.2f}, {wanted}: {'met' if met else 'not met'}")
    if any(case["software_adapter"] for case in measured):
        print("A software adapter: the goals are for GPUs, and say nothing here.")
    if not torch:
        print("Without PyTorch: no goal against it was looked at.")


if __name__ == "__main__":
    main()
