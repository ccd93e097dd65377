"""NumPy."""

import numpy as np

from fold import aligned
from fold_libraries import InPlace
from libraries import Contestant, NotOffered

FUNCTIONS = {"add": np.add, "mul": np.multiply, "max": np.maximum}


def version():
    return np.__version__


def calls(fold):
    if fold.verb == "bags":
        yield bags(fold)
        return
    if fold.dtype == "bf16":
        raise NotOffered("bf16 is no type of NumPy's own")
    if fold.reduce == "none":
        name = "rows[ids] = updates"

        def scatter(rows, n):
            rows[fold.ids[n]] = fold.updates
            return rows

    else:
        function = FUNCTIONS[fold.reduce or "add"]
        name = f"numpy.{function.__name__}.at"

        def scatter(rows, n):
            function.at(rows, fold.ids[n], fold.updates)
            return rows

    if fold.verb == "in place":
        yield InPlace(name, scatter, lambda: aligned(fold.rows))
    elif fold.verb == "scatter":
        yield Contestant(f"copy, {name}", lambda n: scatter(fold.rows.copy(), n))
    else:
        yield Contestant(f"zeros, {name}", lambda n: scatter(np.zeros(fold.shape, fold.updates.dtype), n))


def bags(fold):
    if fold.bytes is not None:
        raise NotOffered("no rows of bytes")
    weights = None if fold.weights is None else fold.weights[..., None]

    def sums(n):
        ids = fold.ids[n]
        if fold.codes is not None:
            rows = fold.decoded(np, fold.codes[ids], fold.scales[ids])
        else:
            rows = fold.rows[ids]
        rows = rows if weights is None else rows * weights
        return rows.sum(axis=1, dtype=np.float32).astype(fold.right.dtype)

    return Contestant("take, sum", sums)
