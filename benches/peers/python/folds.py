#!/usr/bin/env python3
"""Scatters and pooled lookups against libraries in Python, on the CPU. ../README.md says what is
compared."""

import argparse
import json
import pathlib
import sys
import tempfile

import numpy as np

import libraries
from libraries import Contestant
from ours import Server
from race import figures, race

HERE = pathlib.Path(__file__).resolve().parent


def numpy_calls(case, rows, updates, ids):
    if case["in_place"]:
        own = rows.copy()
        in_place = lambda n: np.add.at(own, ids[n], updates)
        yield Contestant("numpy.add.at", in_place)
    elif case["bag"] is None:

        def add(n):
            output = rows.copy()
            np.add.at(output, ids[n], updates)
            return output

        yield Contestant("copy, numpy.add.at", add)
    else:
        yield Contestant("take, sum", lambda n: rows[ids[n]].sum(axis=1))


def torch_calls(case, rows, updates, ids):
    import torch

    torch.set_grad_enabled(False)
    rows, updates = torch.from_numpy(rows), torch.from_numpy(updates)
    ids = [torch.from_numpy(set_).long() for set_ in ids]
    if case["in_place"]:
        own = rows.clone()
        yield Contestant("Tensor.index_add_", lambda n: own.index_add_(0, ids[n], updates))
    elif case["bag"] is None:
        call = lambda n: torch.index_add(rows, 0, ids[n], updates)
        yield Contestant("torch.index_add", call)
        call = lambda n: rows.index_put((ids[n],), updates, accumulate=True)
        yield Contestant("index_put(accumulate)", call)
    else:
        bag = torch.nn.functional.embedding_bag
        yield Contestant("embedding_bag", lambda n: bag(ids[n], rows, mode="sum"))


def jax_calls(case, rows, updates, ids):
    import jax

    wait = lambda output: output.block_until_ready()
    rows, updates = jax.numpy.asarray(rows), jax.numpy.asarray(updates)
    ids = [jax.numpy.asarray(set_) for set_ in ids]
    if case["in_place"]:
        # JAX's arrays are not written to; what it is given for good, it may reuse.
        call = jax.jit(lambda rows, ids, updates: rows.at[ids].add(updates), donate_argnums=0)
        own = [jax.numpy.array(rows)]

        def add(n):
            own[0] = call(own[0], ids[n], updates)
            return own[0]

        yield Contestant(".at[].add, donated", add, wait=wait)
    elif case["bag"] is None:
        call = jax.jit(lambda rows, ids, updates: rows.at[ids].add(updates))
        yield Contestant(".at[].add", lambda n: call(rows, ids[n], updates), wait=wait)
    else:
        call = jax.jit(lambda rows, ids: rows[ids].sum(axis=1))
        yield Contestant("take, sum", lambda n: call(rows, ids[n]), wait=wait)


LIBRARIES = {"numpy": numpy_calls, "torch": torch_calls, "jax": jax_calls}


def run_case(server, number, seconds):
    """The lines of one case."""
    answer = server.ask({"case": number})
    case = answer["case"]

    def read(file, dtype):
        return np.fromfile(server.folder / file, dtype=dtype)

    rows, updates = (read(n, np.float32).reshape(-1, case["columns"]) for n in ["rows", "updates"])
    ids = [read(f"ids-{n}", np.int32) for n in range(answer["sets"])]
    if case["bag"] is not None:
        ids = [set_.reshape(-1, case["bag"]) for set_ in ids]
    right = read("output", np.float32)
    racing, names = server.contestants(answer), ["wgpu-gather"]
    for name, calls in LIBRARIES.items():
        try:
            found = list(calls(case, rows, updates, ids))
        except ModuleNotFoundError:
            print(f"{name}: not installed", file=sys.stderr)
            continue
        # What adds in place is the call of another case, which is compared there.
        for contestant in [] if case["in_place"] else found:
            got = np.asarray(contestant.result(libraries.SETS - 1)).reshape(-1)
            if not np.array_equal(got, right):
                raise AssertionError(f"{name}, {contestant.call}: not the output of ours")
        racing += found
        names += [name] * len(found)
    times = race(racing, seconds, libraries.SETS)
    for who, contestant, own in zip(names, racing, times):
        entry = {"case": case["case"], "who": who, "call": contestant.call}
        yield {**entry, **figures(own, ratio=times[0])}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", default=HERE.parent / "target/release/wgpu-gather-peers")
    parser.add_argument("--seconds", type=float, default=0.5, help="for each call on each case")
    parser.add_argument("--out", required=True, help="where the results go, as lines of JSON")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="wgpu-gather-peers-") as folder, open(
        args.out, "w", encoding="utf-8"
    ) as out:
        server = Server([str(args.server), "folds", "--serve", folder], folder)
        print(json.dumps({"run": server.run}), file=out)
        for number, _ in enumerate(server.cases):
            for line in run_case(server, number, args.seconds):
                print(json.dumps(line), file=out, flush=True)
                print("{case:16} {median_ms:9} ms {ratio:7} of ours  {who}: {call}".format(**line))
        server.close()


if __name__ == "__main__":
    main()
