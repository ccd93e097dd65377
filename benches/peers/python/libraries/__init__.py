"""The other libraries. Each module has NAME, version() and load(task), which yields contestants or
raises NotOffered. A library that is not installed fails to import."""

import time

import numpy as np

# On the CPU, and on an NVIDIA GPU.
CPU = ["numpy_", "torch_", "tensorflow_", "onnxruntime_", "jax_"]
GPU = ["torch_cuda"]


class NotOffered(Exception):
    """A library has no call for a case."""


class Contestant:
    """A call with its tensors loaded.

    `gather(set)` gathers with that set of indices and returns the output; `wait(output)` returns
    when it is there; `numpy(output)` is it as an array.
    """

    def __init__(self, call, gather, output="fresh", wait=None, numpy=np.asarray):
        self.call, self.gather, self.output = call, gather, output
        self.wait, self.numpy = wait, numpy

    def time(self, first, count, untimed=0):
        """The seconds that one of `count` gathers takes, after some that are not timed."""
        self._run(first, untimed)
        return self._run(first + untimed, count) / max(count, 1)

    def _run(self, first, count):
        gather, wait = self.gather, self.wait
        output = None
        started = time.perf_counter()
        for n in range(first, first + count):
            output = gather(n % SETS)
        if wait is not None and count > 0:
            wait(output)
        return time.perf_counter() - started

    def result(self, set_):
        output = self.gather(set_)
        if self.wait is not None:
            self.wait(output)
        return self.numpy(output)


# How many sets of indices take turns; src/task.rs has the same number, and the server says it.
SETS = 3


def no_bad(task):
    if task.has_bad:
        raise NotOffered("no zeros for bad indices")


def batch_positions(task, rank):
    """Positions along the batch dims, to index with beside the indices of `rank` dims."""
    found = []
    for dim in range(task.batch_dims):
        shape = [1] * rank
        shape[dim] = task.params.shape[dim]
        found.append(np.arange(task.params.shape[dim]).reshape(shape))
    return found


def components(task, indices):
    """One index array for each dim of params that is indexed, as advanced indexing wants them."""
    if task.op == "gather":
        if task.axis != task.batch_dims:
            raise NotOffered("no axis behind the batch dims")
        parts = [indices]
    else:
        parts = [np.ascontiguousarray(indices[..., k]) for k in range(indices.shape[-1])]
    return tuple(batch_positions(task, parts[0].ndim) + parts)
