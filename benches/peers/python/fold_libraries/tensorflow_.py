"""TensorFlow on the CPU, eager. It writes to variables only."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402  (it reads its environment when it is imported)

from fold_libraries import InPlace  # noqa: E402
from libraries import Contestant, NotOffered  # noqa: E402

TO_A_COPY = {
    "none": tf.tensor_scatter_nd_update,
    "add": tf.tensor_scatter_nd_add,
    "max": tf.tensor_scatter_nd_max,
}
IN_PLACE = {
    "none": tf.raw_ops.ResourceScatterUpdate,
    "add": tf.raw_ops.ResourceScatterAdd,
    "mul": tf.raw_ops.ResourceScatterMul,
    "max": tf.raw_ops.ResourceScatterMax,
}


def version():
    return tf.__version__


def array(output):
    return output.numpy()


def calls(fold):
    with tf.device("CPU"):
        ids = [tf.constant(set_) for set_ in fold.ids]
        yield bags(fold, ids) if fold.verb == "bags" else scatter(fold, ids)


def scatter(fold, ids):
    updates = tf.constant(fold.updates)
    if fold.verb == "gradient":
        segments = tf.constant(fold.shape[0])
        call = lambda n: tf.math.unsorted_segment_sum(updates, ids[n], segments)
        return Contestant("unsorted_segment_sum", call, numpy=array)
    if fold.verb == "scatter" and fold.reduce in TO_A_COPY:
        function, rows = TO_A_COPY[fold.reduce], tf.constant(fold.rows)
        tuples = [set_[:, None] for set_ in ids]
        call = lambda n: function(rows, tuples[n], updates)
        return Contestant(function.__name__, call, numpy=array)
    function = IN_PLACE[fold.reduce]
    name = f"ResourceScatter{function.__name__.rsplit('_', 1)[-1].title()}"

    def again(rows, n):
        function(resource=rows.handle, indices=ids[n], updates=updates)
        return rows

    if fold.verb == "in place":
        return InPlace(name, again, lambda: tf.Variable(fold.rows), numpy=array)
    rows, copy = tf.constant(fold.rows), tf.Variable(fold.rows)

    def assign(n):
        copy.assign(rows)
        return again(copy, n)

    return Contestant(f"assign, {name}", assign, numpy=array)


def bags(fold, ids):
    if fold.codes is not None or fold.bytes is not None:
        raise NotOffered("no quantized tables")
    rows = tf.constant(fold.rows)
    bags, lookups = fold.ids[0].shape
    if fold.weights is None:
        flat = [tf.reshape(set_, [-1]) for set_ in ids]
        segments = tf.constant(np.repeat(np.arange(bags, dtype=np.int32), lookups))
        call = lambda n: tf.sparse.segment_sum(rows, flat[n], segments)
        return Contestant("sparse.segment_sum", call, numpy=array)
    weights = tf.cast(tf.constant(fold.weights), tf.float32)[..., None]

    # Products of halves are sums of f32 from the start, as ours.
    @tf.function
    def sums(ids):
        taken = tf.cast(tf.gather(rows, ids), tf.float32) * weights
        return tf.cast(tf.reduce_sum(taken, axis=1), rows.dtype)

    return Contestant("gather, reduce_sum", lambda n: sums(ids[n]), numpy=array)
