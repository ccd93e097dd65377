"""JAX. Its calls are compiled."""

import jax
import jax.numpy as jnp
import numpy as np

from fold_libraries import InPlace
from libraries import Contestant, NotOffered

jax.config.update("jax_platforms", "cpu")
# For f64.
jax.config.update("jax_enable_x64", True)
METHODS = {"none": "set", "add": "add", "mul": "multiply", "max": "max"}


def version():
    return jax.__version__


def wait(output):
    output.block_until_ready()


def calls(fold):
    ids = [jnp.asarray(set_) for set_ in fold.ids]
    if fold.verb == "bags":
        yield bags(fold, ids)
        return
    method, updates = METHODS[fold.reduce or "add"], jnp.asarray(fold.updates)
    scatter = lambda rows, ids, updates: getattr(rows.at[ids], method)(updates)
    if fold.verb == "in place":
        # JAX's arrays are not written to; what it is given for good, it may reuse.
        call = jax.jit(scatter, donate_argnums=0)
        again = lambda rows, n: call(rows, ids[n], updates)
        copy = lambda: jnp.array(fold.rows)
        yield InPlace(f".at[].{method}, donated", again, copy, wait=wait)
    elif fold.verb == "scatter":
        call, rows = jax.jit(scatter), jnp.asarray(fold.rows)
        yield Contestant(f".at[].{method}", lambda n: call(rows, ids[n], updates), wait=wait)
    else:
        zeros = lambda ids, updates: scatter(jnp.zeros(fold.shape, updates.dtype), ids, updates)
        call = jax.jit(zeros)
        yield Contestant(f"zeros.at[].{method}", lambda n: call(ids[n], updates), wait=wait)


def bags(fold, ids):
    if fold.bytes is not None:
        raise NotOffered("no rows of bytes")
    weights = () if fold.weights is None else (jnp.asarray(fold.weights),)
    if fold.codes is not None:
        table = (jnp.asarray(fold.codes), jnp.asarray(fold.scales))
    else:
        table = (jnp.asarray(fold.rows),)

    def sums(ids, table, weights):
        if fold.codes is not None:
            rows = fold.decoded(jnp, *(part[ids] for part in table))
        else:
            rows = table[0][ids]
        # Products of halves are sums of f32 from the start, as ours.
        rows = rows.astype(np.float32)
        if weights:
            rows = rows * weights[0].astype(np.float32)[..., None]
        return rows.sum(axis=1).astype(fold.right.dtype)

    call = jax.jit(sums)
    return Contestant("take, sum", lambda n: call(ids[n], table, weights), wait=wait)
