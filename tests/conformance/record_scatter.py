"""Records what ONNX, TensorFlow, JAX, NumPy and PyTorch make of scatters and of pooled lookups.

    pip install onnx tensorflow jax numpy torch
    python record_scatter.py DIRECTORY

Writes one case file for each of them (see README.md). Never needed to build or test: the files are
committed. Values are small integers and halves, of which every order of additions gives the same
sum; where an order matters, the case is NumPy's, which adds in the order of the indices.
"""

import itertools
import json
import os
import sys

os.environ["JAX_ENABLE_X64"] = "1"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import jax
import jax.numpy as jnp
import numpy as np
import onnx
import tensorflow as tf
import torch

NAMES = {
    "bool": "bool", "uint8": "u8", "int8": "i8", "uint16": "u16", "int16": "i16", "uint32": "u32",
    "int32": "i32", "uint64": "u64", "int64": "i64", "float16": "f16", "bfloat16": "bf16",
    "float32": "f32", "float64": "f64", "complex64": "c64", "complex128": "c128",
}
TYPES = {v: k for k, v in NAMES.items() if v != "bf16"}


def number(x):
    if isinstance(x, (complex, np.complexfloating)):
        return [number(x.real), number(x.imag)]
    if isinstance(x, (float, np.floating)):
        x = float(x)
        if x != x:
            return "NaN"
        if x in (float("inf"), float("-inf")):
            return "Infinity" if x > 0 else "-Infinity"
        return int(x) if x == int(x) and not (x == 0 and np.signbit(x)) else x
    return int(x) if abs(int(x)) < 2**53 else str(int(x))


def tensor(a):
    if isinstance(a, torch.Tensor):
        if a.dtype == torch.bfloat16:
            data = [number(float(x)) for x in a.flatten()]
            return {"dtype": "bf16", "shape": list(a.shape), "data": data}
        a = a.detach().numpy()
    a = np.asarray(a)
    if a.dtype.name == "bfloat16":
        data = [number(float(x)) for x in a.ravel()]
        return {"dtype": "bf16", "shape": list(a.shape), "data": data}
    t = {"dtype": NAMES[a.dtype.name], "shape": list(a.shape), "data": [number(x) for x in a.ravel()]}
    if a.dtype.kind == "f" and not (np.trunc(a * 8) == a * 8).all():
        t["bits"] = a.tobytes().hex()  # NaN, or more digits than every reader of JSON keeps
    return t


class Suite:
    def __init__(self, name, library, source):
        self.head = {
            "suite": name, "schema": "gather-scatter/1",
            "provenance": {"library": library, "source": source, "how": "record_scatter.py"},
        }
        self.cases = []

    def add(self, op, name, attrs, run, tags=(), ulps=0, **tensors):
        case = {"op": op, "name": name}
        case.update({k: tensor(v) for k, v in tensors.items() if v is not None})
        attrs = dict(attrs)
        if "fill" in attrs:
            attrs["fill"] = tensor(np.asarray(attrs["fill"]))
        case["attrs"] = attrs
        try:
            case["expect"] = tensor(run())
        except Exception as error:
            message = str(error).strip().splitlines()
            case["expect_error"] = {"kind": type(error).__name__, "message": message[0] if message else ""}
        if ulps:
            case["ulps"] = ulps
        if tags:
            case["tags"] = list(tags)
        self.cases.append(case)

    def write(self, directory):
        self.head["count"] = len(self.cases)
        cases = ",\n".join(json.dumps(case) for case in self.cases)
        text = json.dumps(self.head)[:-1] + ', "cases": [\n' + cases + "\n]}\n"
        path = os.path.join(directory, self.head["suite"] + ".json")
        with open(path, "w") as file:
            file.write(text)
        failed = sum("expect_error" in c for c in self.cases)
        print(f"{path}: {len(self.cases)} cases, {failed} of them errors")


def ramp(shape, dtype="f32", step=1, start=1):
    """Small numbers of both signs that no two neighbours have in common."""
    n = int(np.prod(shape))
    values = (np.arange(n) * 7 * step + start) % 23
    signed = dtype not in ("u8", "u16", "u32", "u64", "bool")
    values = values - 11 if signed else values
    return values.astype(TYPES.get(dtype, "float32")).reshape(shape)


def onnx_node_tests():
    """The node tests of ScatterElements and ScatterND: the tensors are in the package's own code."""
    from onnx.backend.test.case.node import scatterelements, scatternd

    s = Suite("onnx_scatter_node_tests", f"onnx {onnx.__version__}",
              "onnx/backend/test/case/node/scatterelements.py, scatternd.py")

    def expect(node, inputs, outputs, name, **_):
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        reduce = attributes.get("reduction", b"none").decode()
        attrs = {"reduce": reduce, "neg": "wrap", "oob": "error"}
        op = "scatter_nd"
        if node.op_type == "ScatterElements":
            op, attrs["dim"] = "scatter_elements", attributes.get("axis", 0)
        base, indices, updates = inputs
        s.add(op, name, attrs, lambda: outputs[0], base=base, indices=indices, updates=updates)

    for module, kind in [(scatterelements, scatterelements.ScatterElements), (scatternd, scatternd.ScatterND)]:
        module.expect = expect
        for name in sorted(n for n in dir(kind) if n.startswith("export")):
            getattr(kind, name)()
    return s


def tensorflow():
    s = Suite("tf_scatter_recorded", f"tensorflow {tf.__version__}", "calls made up for this file, on the CPU")
    rules = {"neg": "oob", "oob": "error"}
    functions = {
        "none": tf.tensor_scatter_nd_update, "add": tf.tensor_scatter_nd_add,
        "min": tf.tensor_scatter_nd_min, "max": tf.tensor_scatter_nd_max,
    }
    shapes = [
        ((6,), [[1], [4]]), ((6,), [[5], [0], [5], [5], [2]]), ((4, 3), [[2], [0], [2]]),
        ((4, 3), [[1, 2], [3, 0], [1, 2], [0, 0]]), ((3, 2, 2), [[2], [2], [0]]),
        ((3, 2, 2), [[2, 1], [0, 0], [2, 1]]), ((3, 2, 2), [[2, 1, 0], [2, 1, 1], [2, 1, 0]]),
        ((2, 3), [[[0], [1]], [[1], [1]]]), ((4, 3), np.zeros((0, 1), "i4")), ((3,), [[0], [3]]), ((3,), [[-1]]),
    ]
    for (reduce, f), (shape, indices), dtype in itertools.product(
            functions.items(), shapes, ["f32", "i32", "f64", "i64", "f16"]):
        indices = np.asarray(indices, "i4" if dtype != "i64" else "i8")
        if reduce == "none" and len(np.unique(indices.reshape(-1, indices.shape[-1]), axis=0)) < indices[..., 0].size:
            continue  # which of two updates wins is not TensorFlow's to say
        base = ramp(shape, dtype)
        updates = ramp(indices.shape[:-1] + tuple(shape[indices.shape[-1]:]), dtype, 3, 2)
        s.add("scatter_nd", f"{f.__name__} {dtype} {list(shape)} at {list(indices.shape)}",
              {"reduce": reduce, **rules}, lambda: f(base, indices, updates).numpy(),
              base=base, indices=indices, updates=updates)
    for (shape, indices), dtype in itertools.product(shapes[:9], ["f32", "i32", "bf16", "c64"]):
        indices = np.asarray(indices, "i4")
        updates = ramp(indices.shape[:-1] + tuple(shape[indices.shape[-1]:]), dtype, 3, 2)
        if dtype == "bf16":
            updates = tf.cast(updates, tf.bfloat16).numpy()
        s.add("scatter_nd", f"tf.scatter_nd {dtype} {list(shape)} at {list(indices.shape)}",
              {"reduce": "add", **rules}, lambda: tf.scatter_nd(indices, updates, shape).numpy(),
              base=np.zeros(shape, updates.dtype), indices=indices, updates=updates)

    def gradient(f, params, updates):
        params = tf.constant(params)
        with tf.GradientTape() as tape:
            tape.watch(params)
            output = f(params)
        return tf.convert_to_tensor(tape.gradient(output, params, tf.constant(updates))).numpy()

    gathers = [
        ((5,), [0, 3, 3, 3], 0, 0), ((5, 2), [[4, 1], [1, 1]], 0, 0), ((3, 4), [3, 3, 0], 1, 0),
        ((2, 3, 2), [1, 1, 1, 0], 1, 0), ((2, 3), [[2, 2, 0], [0, 0, 0]], 1, 1),
        ((2, 3, 2), [[2, 1], [1, 1]], 1, 1), ((2, 2, 3), [[0, 0], [2, 2]], 2, 1),
        ((2, 2, 3), [[[0, 0], [1, 2]], [[2, 2], [0, 0]]], 2, 2), ((4, 0), [1, 1], 0, 0), ((3, 2), np.zeros((0,), "i4"), 0, 0),
    ]
    for (shape, indices, axis, batch), dtype in itertools.product(gathers, ["f32", "f64"]):
        params, indices = ramp(shape, dtype), np.asarray(indices, "i4")
        f = lambda p: tf.gather(p, indices, axis=axis, batch_dims=batch)
        updates = ramp(f(params).shape, dtype, 3, 2)
        s.add("scatter", f"gradient of tf.gather {dtype} {list(shape)} axis {axis} batch_dims {batch}",
              {"reduce": "add", "axis": axis, "batch_dims": batch, **rules},
              lambda: gradient(f, params, updates), tags=["gradient"],
              base=np.zeros(shape, params.dtype), indices=indices, updates=updates)
    nds = [
        ((4,), [[0], [3], [3]], 0), ((4, 2), [[1], [1], [0]], 0), ((3, 3), [[2, 2], [2, 2], [0, 1]], 0),
        ((2, 3), [[[2], [2]], [[0], [0]]], 1), ((2, 3, 2), [[[2], [2]], [[0], [1]]], 1),
        ((2, 2, 3), [[[1, 2], [1, 2]], [[0, 0], [1, 1]]], 1),
    ]
    for (shape, indices, batch), dtype in itertools.product(nds, ["f32", "f64"]):
        params, indices = ramp(shape, dtype), np.asarray(indices, "i4")
        f = lambda p: tf.gather_nd(p, indices, batch_dims=batch)
        updates = ramp(f(params).shape, dtype, 3, 2)
        s.add("scatter_nd", f"gradient of tf.gather_nd {dtype} {list(shape)} batch_dims {batch}",
              {"reduce": "add", "batch_dims": batch, **rules},
              lambda: gradient(f, params, updates), tags=["gradient"],
              base=np.zeros(shape, params.dtype), indices=indices, updates=updates)
    return s


def jax_modes():
    s = Suite("jax_scatter_recorded", f"jax {jax.__version__}", "calls made up for this file, on the CPU")
    ids = np.array([0, 3, -1, 3, -4, 4, 9, -9, 1, 3], "i4")
    modes = {"clip": ("wrap", "clip"), "drop": ("wrap", "zero"), "fill": ("wrap", "zero")}
    for mode, dtype, shape in itertools.product(modes, ["f32", "i32", "u32", "i8", "u8", "i64", "bf16", "f16"], [(4,), (4, 3)]):
        neg, oob = modes[mode]
        base, updates = ramp(shape, dtype), ramp((len(ids),) + shape[1:], dtype, 3, 2)
        if dtype == "bf16":
            base, updates = jnp.asarray(base, jnp.bfloat16), jnp.asarray(updates, jnp.bfloat16)
        for reduce in ["add", "min", "max"] + (["mul"] if dtype in ("i32", "u32", "i8", "u8", "i64") else []):
            method = {"mul": "multiply"}.get(reduce, reduce)
            run = lambda: np.asarray(getattr(jnp.asarray(base).at[ids], method)(updates, mode=mode))
            s.add("scatter", f"x.at[].{method} mode {mode} {dtype} {list(shape)}",
                  {"reduce": reduce, "axis": 0, "neg": neg, "oob": oob}, run,
                  base=np.asarray(base), indices=ids, updates=np.asarray(updates))
    takes = [((4,), 0), ((4, 2), 0), ((2, 4), 1), ((2, 4, 2), 1)]
    for (mode, neg, oob), (shape, axis) in itertools.product(
            [("clip", "oob", "clip"), ("fill", "wrap", "zero"), ("wrap", "oob", "wrap")], takes):
        for indices in [ids, ids[:8].reshape(2, 4), np.array(3, "i4"), ids.astype("i8")]:
            params = ramp(shape)
            f = lambda p: jnp.take(p, jnp.asarray(indices), axis=axis, mode=mode)
            output, vjp = jax.vjp(f, jnp.asarray(params))
            updates = ramp(output.shape, "f32", 3, 2)
            s.add("scatter", f"vjp of jnp.take mode {mode} {list(shape)} axis {axis} at {list(indices.shape)}",
                  {"reduce": "add", "axis": axis, "neg": neg, "oob": oob},
                  lambda: np.asarray(vjp(jnp.asarray(updates))[0]), tags=["gradient"],
                  base=np.zeros(shape, "f4"), indices=indices, updates=updates)
    for shape, axis in [((4, 3), 0), ((3, 4), 1), ((2, 4, 2), 1)]:
        params = ramp(shape)
        out = list(shape)
        out[axis] = 3
        indices = (np.arange(int(np.prod(out))) * 5 % 4).reshape(out).astype("i4")
        f = lambda p: jnp.take_along_axis(p, jnp.asarray(indices), axis=axis)
        updates = ramp(tuple(out), "f32", 3, 2)
        s.add("scatter_elements", f"vjp of jnp.take_along_axis {list(shape)} axis {axis}",
              {"reduce": "add", "dim": axis, "neg": "wrap", "oob": "zero"},
              lambda: np.asarray(jax.vjp(f, jnp.asarray(params))[1](jnp.asarray(updates))[0]),
              tags=["gradient"], base=np.zeros(shape, "f4"), indices=indices, updates=updates)
    return s


def numpy_at():
    s = Suite("numpy_at_recorded", f"numpy {np.__version__}",
              "calls made up for this file; ufunc.at goes through the indices in order, and rounds each time")
    functions = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}
    rng = np.random.default_rng(18)
    types = ["f32", "f64", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "c64"]
    for (reduce, f), dtype, shape in itertools.product(functions.items(), types, [(5,), (5, 3)]):
        if dtype == "c64" and reduce in ("min", "max"):
            continue  # their order of complex numbers is NumPy's own
        indices = np.array([4, 0, -1, 2, 2, 2, -5, 4, 4, 2, 1, 2], "i8")
        u_shape = (len(indices),) + shape[1:]
        if dtype in ("f32", "f64"):
            base = rng.standard_normal(shape).astype(TYPES[dtype])
            updates = rng.standard_normal(u_shape).astype(TYPES[dtype])
        else:
            # of a magnitude that wraps around
            base, updates = ramp(shape, dtype), ramp(u_shape, dtype, 3, 2) * np.asarray(5, TYPES[dtype])
        out = base.copy()
        def run():
            f.at(out, indices, updates)
            return out
        s.add("scatter", f"{f.__name__}.at {dtype} {list(shape)}",
              {"reduce": reduce, "axis": 0, "neg": "wrap", "oob": "error"}, run,
              base=base, indices=indices, updates=updates)
    for value, other in [(np.nan, 1.0), (1.0, np.nan), (np.inf, -np.inf), (-np.inf, 3.0)]:
        for reduce, f in functions.items():
            base, updates = np.array([value, 2, 0], "f4"), np.array([other, 5, other], "f4")
            indices, out = np.array([0, 1, 1]), np.array([value, 2, 0], "f4")
            def run():
                with np.errstate(invalid="ignore"):
                    f.at(out, indices, updates)
                # A NaN that arithmetic makes has any payload: the quiet one stands for all.
                return np.where(np.isnan(out), np.float32(np.nan), out)
            s.add("scatter", f"{f.__name__}.at {value} and {other}",
                  {"reduce": reduce, "axis": 0, "neg": "wrap", "oob": "error"}, run,
                  base=base, indices=indices, updates=updates)
    for dtype in ["f32", "i32", "u8", "c128"]:
        base, updates = ramp((4, 2), dtype), ramp((6, 2), dtype, 3, 2)
        indices = np.array([3, 0, 3, 1, 0, 3], "i8")
        def run():
            out = base.copy()
            for i, u in zip(indices, updates):
                out[i] = u
            return out
        s.add("scatter", f"assigned in order {dtype}", {"reduce": "none", "axis": 0, "neg": "wrap", "oob": "error"},
              run, base=base, indices=indices, updates=updates)
    for bad in [[0, 5], [-6, 1]]:
        base, updates = ramp((5,)), ramp((2,), "f32", 3, 2)
        def run():
            np.add.at(base.copy(), np.array(bad), updates)
        s.add("scatter", f"add.at {bad}", {"reduce": "add", "axis": 0, "neg": "wrap", "oob": "error"}, run,
              base=base, indices=np.array(bad, "i8"), updates=updates)
    return s


def torch_documented(s):
    """The examples of the documentation of index_add, index_copy, scatter and scatter_reduce."""
    rules = {"neg": "oob", "oob": "error", "profile": "torch"}
    t = torch.tensor([[1, 2, 3], [4, 5, 6], [7, 8, 9]], dtype=torch.float)
    index = torch.tensor([0, 4, 2])
    ones, zeros = torch.ones(5, 3), torch.zeros(5, 3)
    s.add("scatter", "index_add_ (documentation)", {"reduce": "add", "axis": 0, **rules},
          lambda: ones.clone().index_add_(0, index, t), base=ones, indices=index, updates=t)
    s.add("scatter", "index_add_ alpha -1 (documentation)", {"reduce": "add", "axis": 0, **rules},
          lambda: ones.clone().index_add_(0, index, t, alpha=-1), base=ones, indices=index, updates=-t)
    s.add("scatter", "index_copy_ (documentation)", {"reduce": "none", "axis": 0, **rules},
          lambda: zeros.clone().index_copy_(0, index, t), base=zeros, indices=index, updates=t)
    src = torch.arange(1, 11).reshape((2, 5))
    base = torch.zeros(3, 5, dtype=src.dtype)
    for dim, index in [(0, [[0, 1, 2, 0]]), (1, [[0, 1, 2], [0, 1, 4]])]:
        index = torch.tensor(index)
        part = src[: index.shape[0], : index.shape[1]].contiguous()
        s.add("scatter_elements", f"scatter_ dim {dim} (documentation)", {"reduce": "none", "dim": dim, **rules},
              lambda: base.clone().scatter_(dim, index, src), base=base, indices=index, updates=part)
    index, full = torch.tensor([[2], [3]]), torch.full((2, 4), 2.0)
    value = torch.full((2, 1), 1.23)
    for reduce, name in [("multiply", "mul"), ("add", "add")]:
        s.add("scatter_elements", f"scatter_ reduce {reduce} (documentation)", {"reduce": name, "dim": 1, **rules},
              lambda: full.clone().scatter_(1, index, 1.23, reduce=reduce), base=full, indices=index, updates=value)
    ones = torch.ones((2, 5))
    for index in [[[0, 1, 2, 0, 0]], [[0, 1, 2, 0, 0], [0, 1, 2, 2, 2]]]:
        index = torch.tensor(index)
        base = torch.zeros(3, 5)
        s.add("scatter_elements", "scatter_add_ (documentation)", {"reduce": "add", "dim": 0, **rules},
              lambda: base.clone().scatter_add_(0, index, ones), base=base, indices=index,
              updates=ones[: index.shape[0]].contiguous())
    src, index = torch.tensor([1.0, 2, 3, 4, 5, 6]), torch.tensor([0, 1, 0, 1, 2, 1])
    four = torch.tensor([1.0, 2, 3, 4])
    for base, reduce, name in [(four, "sum", "add"), (torch.tensor([5.0, 4, 3, 2]), "amax", "max")]:
        s.add("scatter_elements", f"scatter_reduce {reduce} (documentation)", {"reduce": name, "dim": 0, **rules},
              lambda: base.scatter_reduce(0, index, src, reduce=reduce), base=base, indices=index, updates=src)


def torch_scatters(s):
    rules = {"neg": "oob", "oob": "error", "profile": "torch"}
    reduces = {"sum": "add", "prod": "mul", "amin": "min", "amax": "max"}
    types = [torch.float32, torch.float64, torch.int32, torch.int64, torch.uint8, torch.int16, torch.bfloat16, torch.float16]
    for (reduce, name), dtype, dim in itertools.product(reduces.items(), types, [0, 1]):
        base = torch.tensor(ramp((4, 3)) % 5).to(dtype)
        index = torch.tensor([[0, 1, 2], [0, 1, 0]]) if dim else torch.tensor([[3, 1, 0], [3, 0, 0], [1, 1, 0]])
        src = (torch.tensor(ramp(tuple(index.shape), "f32", 3, 2)) % 4).to(dtype)
        s.add("scatter_elements", f"scatter_reduce {reduce} {str(dtype)[6:]} dim {dim}",
              {"reduce": name, "dim": dim, **rules},
              lambda: base.scatter_reduce(dim, index, src, reduce=reduce), base=base, indices=index, updates=src)
    for dtype, dim in itertools.product(types, [0, 1]):
        base = torch.tensor(ramp((4, 4)) % 5).to(dtype)
        index = torch.tensor([2, 0, 2, 2, 1])
        shape = (4, 5) if dim else (5, 4)
        src = (torch.tensor(ramp(shape, "f32", 3, 2)) % 4).to(dtype)
        s.add("scatter", f"index_add {str(dtype)[6:]} dim {dim}", {"reduce": "add", "axis": dim, **rules},
              lambda: base.index_add(dim, index, src), base=base, indices=index, updates=src)
    for index in [[0, 4], [-1, 0]]:
        base, src = torch.zeros(4), torch.ones(2)
        s.add("scatter", f"index_add at {index}", {"reduce": "add", "axis": 0, **rules},
              lambda: base.index_add(0, torch.tensor(index), src), base=base, indices=torch.tensor(index), updates=src)


def torch_bags(s):
    bag = torch.nn.functional.embedding_bag
    rules = {"neg": "oob", "oob": "error"}

    def add(name, table, indices, offsets=None, weights=None, mode="sum", padding=None, last=False, ulps=0):
        attrs = {"mode": mode, **rules}
        if padding is not None:
            attrs["padding_index"] = padding
        if last:
            attrs["include_last_offset"] = True
        s.add("embedding_bag", name, attrs,
              lambda: bag(indices, table, offsets=offsets, mode=mode, per_sample_weights=weights,
                          padding_idx=padding, include_last_offset=last),
              ulps=ulps, params=table, indices=indices, offsets=offsets, weights=weights)

    # The example of the documentation, with a table of halves in place of random numbers.
    table, ids = torch.tensor(ramp((10, 3)) / 2), torch.tensor([1, 2, 4, 5, 4, 3, 2, 9])
    offsets = torch.tensor([0, 4])
    add("embedding_bag (documentation)", table, ids, offsets, mode="mean", ulps=1)
    add("embedding_bag padding_idx (documentation)", table[:3].contiguous(), torch.tensor([2, 2, 2, 2, 4, 3, 2, 9]) % 3,
        offsets, mode="mean", padding=2, ulps=1)
    splits = {
        "two": [0, 4], "empty bags": [0, 0, 3, 3, 8], "one bag": [0], "each its own": list(range(8)),
        "all empty but the last": [0, 0, 0], "last empty": [0, 8],
    }
    types = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
    for (split, offsets), mode, dtype, padding in itertools.product(
            splits.items(), ["sum", "mean", "max"], types, [None, 2]):
        ids = torch.tensor([1, 2, 4, 5, 4, 2, 2, 9])
        values = torch.tensor(ramp((10, 3))).to(dtype)
        add(f"{mode} {str(dtype)[6:]} {split} padding {padding}", values, ids, torch.tensor(offsets), mode=mode,
            padding=padding, ulps=1 if mode == "mean" else 0)
    for mode, dim, index in itertools.product(["sum", "mean", "max"], [1, 4, 5, 8], [torch.int32, torch.int64]):
        table = torch.tensor(ramp((6, dim)))
        ids = torch.tensor([[0, 5, 5], [2, 2, 2]], dtype=index)
        add(f"{mode} 2-D dim {dim} {str(index)[6:]}", table, ids, mode=mode, ulps=1 if mode == "mean" else 0)
        flat = ids.flatten()
        offsets = torch.tensor([0, 1, 1, 6], dtype=index)
        add(f"{mode} include_last_offset dim {dim} {str(index)[6:]}", table, flat, offsets, mode=mode, last=True,
            ulps=1 if mode == "mean" else 0)
    for dtype, padding in itertools.product(types, [None, 4, -6]):
        table, ids = torch.tensor(ramp((10, 4))).to(dtype), torch.tensor([1, 2, 4, 5, 4, 3, 2, 9])
        weights = torch.tensor([1, -0.5, 2, 0, 3, 1.5, -1, 0.5]).to(dtype)
        add(f"weights {str(dtype)[6:]} padding {padding}", table, ids, torch.tensor([0, 4, 4]), weights, padding=padding)
        add(f"weights 2-D {str(dtype)[6:]} padding {padding}", table, ids.reshape(2, 4), None, weights.reshape(2, 4),
            padding=padding)
    table, ids = torch.tensor(ramp((5, 2))), torch.tensor([0, 1, 2])
    add("an index out of bounds", table, torch.tensor([0, 5]), torch.tensor([0]))
    add("a negative index", table, torch.tensor([0, -1]), torch.tensor([0]))
    add("offsets that do not start at 0", table, ids, torch.tensor([1, 2]))
    add("offsets beyond the indices", table, ids, torch.tensor([0, 4]))
    add("weights with mean", table, ids, torch.tensor([0]), torch.ones(3), mode="mean")
    add("weights with max", table, ids, torch.tensor([0]), torch.ones(3), mode="max")
    add("weights of another number", table, ids, torch.tensor([0]), torch.ones(2))
    add("padding index out of range", table, ids, torch.tensor([0]), padding=5)
    add("no offsets for a vector", table, ids)
    add("offsets for rows", table, ids.reshape(1, 3), torch.tensor([0]))
    add("integers", torch.tensor(ramp((5, 2), "i32")), ids, torch.tensor([0]), mode="mean")


def pytorch():
    s = Suite("torch_scatter_recorded", f"torch {torch.__version__}",
              "examples of its documentation, and calls made up for this file, on the CPU")
    torch_documented(s)
    torch_scatters(s)
    b = Suite("torch_bag_recorded", f"torch {torch.__version__}",
              "examples of its documentation, and calls made up for this file, on the CPU")
    torch_bags(b)
    return [s, b]


def main():
    directory = sys.argv[1]
    for suite in [onnx_node_tests(), tensorflow(), jax_modes(), numpy_at(), *pytorch()]:
        suite.write(directory)


main()
