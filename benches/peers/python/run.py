#!/usr/bin/env python3
"""The cases of `wgpu-gather bench`, against libraries in Python: on the CPU, or with --adapter on
an NVIDIA GPU. ../README.md says what is compared."""

import argparse
import importlib
import json
import pathlib
import sys
import tempfile

import libraries
from ours import Server
from race import figures, race

HERE = pathlib.Path(__file__).resolve().parent
INSTALL = "not installed: pip install -r benches/peers/python/requirements.txt"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", default=HERE.parent / "target/release/wgpu-gather-peers")
    parser.add_argument("--case", nargs="+", default=["shapes"], help="names or groups")
    parser.add_argument("--pattern", nargs="+", help="of indices, instead of the cases' own")
    parser.add_argument("--scale", help="divide the rows of the cases by this number")
    parser.add_argument("--memory", help="GiB for the tensors of one case")
    parser.add_argument("--seconds", type=float, default=0.5, help="for each call on each case")
    parser.add_argument("--adapter", help="race on this NVIDIA GPU instead of the CPU")
    parser.add_argument("--peer", nargs="+", help="only these libraries")
    parser.add_argument("--out", required=True, help="where the results go, as lines of JSON")
    return parser.parse_args()


def command(args):
    words = [str(args.server), "serve", "--case", *args.case]
    words += ["--pattern", *args.pattern] if args.pattern else []
    for option in ["scale", "memory", "adapter"]:
        value = getattr(args, option)
        words += [f"--{option}", value] if value is not None else []
    return words


def find(args):
    """The libraries that are there, and the names of those that are not."""
    there, missing = [], {}
    for name in libraries.GPU if args.adapter else libraries.CPU:
        plain = name.rstrip("_")
        if args.peer and plain not in args.peer:
            continue
        try:
            there.append(importlib.import_module(f"libraries.{name}"))
        except ImportError as error:
            missing[plain] = INSTALL if isinstance(error, ModuleNotFoundError) else str(error)
            print(f"{plain}: {missing[plain]}", file=sys.stderr)
    return there, missing


def load(library, task):
    """The contestants of a library, each checked, and why there are none."""
    found = []
    try:
        for contestant in library.load(task):
            wrong = task.wrong(contestant.result(libraries.SETS - 1))
            if wrong:
                raise AssertionError(f"{library.NAME}, {contestant.call}: {wrong}")
            found.append(contestant)
    except libraries.NotOffered as reason:
        return [], str(reason)
    return found, None


def run_case(args, server, number, there, missing):
    """The lines of one case."""
    task, racing = server.load(number)
    names = ["wgpu-gather"] * len(racing)
    refused = dict(missing)
    for library in there:
        found, reason = load(library, task)
        racing += found
        names += [library.NAME] * len(found)
        if reason:
            refused[library.NAME] = reason
    times = race(racing, args.seconds, libraries.SETS)
    ours = {c.output: t for c, t, who in zip(racing, times, names) if who == "wgpu-gather"}
    for contestant, own, who in zip(racing, times, names):
        against = {}
        if who != "wgpu-gather":
            against = {
                "ratio": ours.get(contestant.output),
                "ratio_into": ours.get("kept"),
                "ratio_bound": ours.get("bound"),
            }
        entry = {"who": who, "call": contestant.call, "output": contestant.output}
        yield {**task.about, **entry, **figures(own, **against)}
    for who, reason in refused.items():
        yield {**task.about, "who": who, "output": "fresh", "not_offered": reason}


def main():
    args = arguments()
    there, missing = find(args)
    with tempfile.TemporaryDirectory(prefix="wgpu-gather-peers-") as folder, open(
        args.out, "w", encoding="utf-8"
    ) as out:
        server = Server([*command(args), "--folder", folder], folder)
        run = server.run
        run["command"] = " ".join(["benches/peers/python/run.py", *sys.argv[1:]])
        run["versions"].update({library.NAME: library.version() for library in there})
        run["versions"]["python"] = sys.version.split()[0]
        print(json.dumps({"run": run}), file=out)
        for number, name in enumerate(server.cases):
            print(name, file=sys.stderr)
            for line in run_case(args, server, number, there, missing):
                print(json.dumps(line, ensure_ascii=False), file=out, flush=True)
        server.close()


if __name__ == "__main__":
    main()
