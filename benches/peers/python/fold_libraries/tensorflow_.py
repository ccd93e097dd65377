"""TensorFlow on the CPU, eager. It writes to variables only."""

import numpy as np

from fold_libraries import InPlace
from libraries import Contestant, NotOffered
from libraries.tensorflow_ import tf, version  # noqa: F401  (a library has a version)

tf.config.set_visible_devices([], "GPU")
TO_A_COPY = {
    "none": tf.tensor_scatter_nd_update,
    "add": tf.tensor_scatter_nd_add,
    "max": tf.tensor_scatter_nd_max,
}
# Of tf.raw_ops.
IN_PLACE = {
    "none": "ResourceScatterUpdate",
    "add": "ResourceScatterAdd",
    "mul": "ResourceScatterMul",
    "max": "ResourceScatterMax",
}


def array(output):
    return output.numpy()


def calls(fold):
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
    name = IN_PLACE[fold.reduce]
    function = getattr(tf.raw_ops, name)

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
    if fold.weights is None:
        count, lookups = fold.ids[0].shape
        flat = [tf.reshape(set_, [-1]) for set_ in ids]
        segments = tf.constant(np.repeat(np.arange(count, dtype=np.int32), lookups))
        call = lambda n: tf.sparse.segment_sum(rows, flat[n], segments)
        return Contestant("sparse.segment_sum", call, numpy=array)
    weights = tf.cast(tf.constant(fold.weights), tf.float32)[..., None]

    # Products of halves are sums of f32 from the start, as ours.
    @tf.function
    def sums(ids):
        taken = tf.cast(tf.gather(rows, ids), tf.float32) * weights
        return tf.cast(tf.reduce_sum(taken, axis=1), rows.dtype)

    return Contestant("gather, reduce_sum", lambda n: sums(ids[n]), numpy=array)
