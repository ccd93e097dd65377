"""TensorFlow on the CPU, eager: gather and gather_nd."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import tensorflow as tf  # noqa: E402  (it reads its environment when it is imported)

from . import Contestant, NotOffered, no_bad  # noqa: E402

NAME = "tensorflow"


def version():
    return tf.__version__


def load(task):
    no_bad(task)
    with tf.device("CPU"):
        params = tf.constant(task.params)
        indices = [tf.constant(set_) for set_ in task.indices]
    axis, batch_dims = task.axis, task.batch_dims
    if task.op == "gather_nd":
        call, gather = "tf.gather_nd", lambda n: tf.gather_nd(params, indices[n], batch_dims)
    elif task.op == "gather":
        call = "tf.gather"
        gather = lambda n: tf.gather(params, indices[n], axis=axis, batch_dims=batch_dims)  # noqa: E731
    elif axis == task.params.ndim - 1:
        # Elements along the last dim are a gather whose other dims are batch dims.
        call = "tf.gather(batch_dims=)"
        gather = lambda n: tf.gather(params, indices[n], axis=axis, batch_dims=axis)  # noqa: E731
    else:
        raise NotOffered("no gather_elements but along the last dim")
    yield Contestant(call, gather, numpy=lambda output: output.numpy())
