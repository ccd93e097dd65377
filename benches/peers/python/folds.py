#!/usr/bin/env python3
"""Scatters and pooled lookups against libraries in Python, on the CPU. ../README.md says what is
compared."""

import argparse
import importlib
import json
import pathlib
import sys
import tempfile

import numpy as np

import libraries
from fold import Fold
from ours import Server
from race import figures, race

HERE = pathlib.Path(__file__).resolve().parent
LIBRARIES = ["numpy", "torch", "tensorflow", "jax"]


def find():
    """The libraries that are there, with their versions."""
    there = {}
    for name in LIBRARIES:
        try:
            there[name] = importlib.import_module(f"fold_libraries.{name}_")
        except ModuleNotFoundError as error:
            print(f"{name}: {error}", file=sys.stderr)
    return there


def run_case(server, number, there, seconds):
    """The lines of one case."""
    answer = server.ask({"case": number})
    fold = Fold(answer["case"], server.folder, answer["sets"])
    racing, names = server.contestants(answer), ["wgpu-gather"]
    for name, library in there.items():
        try:
            for contestant in library.calls(fold):
                wrong = fold.wrong(contestant.result(libraries.SETS - 1))
                if wrong:
                    raise AssertionError(f"{name}, {contestant.call}: {wrong}")
                racing.append(contestant)
                names.append(name)
        except libraries.NotOffered as reason:
            yield {"case": fold.name, "who": name, "not_offered": str(reason)}
    times = race(racing, seconds, libraries.SETS)
    for who, contestant, own in zip(names, racing, times):
        entry = {"case": fold.name, "who": who, "call": contestant.call}
        yield {**entry, **figures(own, ratio=times[0])}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", default=HERE.parent / "target/release/wgpu-gather-peers")
    parser.add_argument("--case", nargs="+", default=[], help="words that are in a case's name")
    parser.add_argument("--seconds", type=float, default=0.15, help="for each call on each case")
    parser.add_argument("--out", required=True, help="where the results go, as lines of JSON")
    args = parser.parse_args()
    there = find()
    with tempfile.TemporaryDirectory(prefix="wgpu-gather-peers-") as folder, open(
        args.out, "w", encoding="utf-8"
    ) as out:
        command = [str(args.server), "folds", "--serve", folder]
        server = Server(command + (["--case", *args.case] if args.case else []), folder)
        run = server.run
        run["command"] = " ".join(["benches/peers/python/folds.py", *sys.argv[1:]])
        run["versions"].update({name: library.version() for name, library in there.items()})
        print(json.dumps({"run": run}), file=out)
        for number, _ in enumerate(server.cases):
            for line in run_case(server, number, there, args.seconds):
                print(json.dumps(line), file=out, flush=True)
                if "ratio" in line:
                    text = "{case}: {median_ms} ms, {ratio} of ours  {who}: {call}"
                    print(text.format(**line), flush=True)
        server.close()


if __name__ == "__main__":
    main()
