"""NumPy: take, take_along_axis and advanced indexing, all on one thread."""

import numpy as np

from . import Contestant, components, no_bad

NAME = "numpy"


def version():
    return np.__version__


def load(task):
    no_bad(task)
    params, axis = task.params, task.axis
    if task.op == "gather_elements":
        # Its indices are intp.
        indices = [set_.astype(np.intp) for set_ in task.indices]
        yield Contestant(
            "np.take_along_axis", lambda n: np.take_along_axis(params, indices[n], axis)
        )
    elif task.op == "gather" and task.batch_dims == 0:
        indices = [set_.astype(np.intp) for set_ in task.indices]
        yield Contestant("np.take", lambda n: np.take(params, indices[n], axis))
        output = np.take(params, indices[0], axis)
        # With mode="raise", the default, it makes a copy.
        yield Contestant(
            "np.take(out=, mode='clip')",
            lambda n: np.take(params, indices[n], axis, out=output, mode="clip"),
            "kept",
        )
    else:
        indices = [components(task, set_) for set_ in task.indices]
        yield Contestant("params[…]", lambda n: params[indices[n]])
