"""JAX on the CPU: compiled take, take_along_axis and at[…].get."""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax  # noqa: E402  (it reads its environment when it is imported)
import jax.numpy as jnp  # noqa: E402

from . import Contestant, NotOffered, components  # noqa: E402

NAME = "jax"

jax.config.update("jax_enable_x64", True)


def version():
    return jax.__version__


def load(task):
    params, axis = jnp.asarray(task.params), task.axis
    # Bad indices are clipped, which XLA does anyway; where a case has some, they give zeros.
    mode = {"mode": "fill", "fill_value": 0} if task.has_bad else {"mode": "clip"}
    plain = [jnp.asarray(set_) for set_ in task.indices]
    if task.op == "gather_elements":
        call, indices = "jnp.take_along_axis", plain
        gather = jax.jit(lambda p, i: jnp.take_along_axis(p, i, axis, **mode))
    elif task.op == "gather" and task.batch_dims == 0:
        call, indices = "jnp.take", plain
        gather = jax.jit(lambda p, i: jnp.take(p, i, axis, **mode))
    elif task.has_bad:
        raise NotOffered("bad indices in batches are not written here")
    else:
        call = "params.at[…].get"
        sets = [components(task, set_) for set_ in task.indices]
        indices = [tuple(jnp.asarray(part) for part in set_) for set_ in sets]
        gather = jax.jit(lambda p, i: p.at[i].get(**mode))
    yield Contestant(call, lambda n: gather(params, indices[n]), wait=jax.block_until_ready)
