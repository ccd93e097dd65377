"""Records what NumPy, JAX and OpenVINO make of bad indices, as a case file.

    pip install numpy jax openvino
    python record_modes.py >modes_recorded.json

Never needed to build or test: the file is committed.
"""

import json
import os
import sys

os.environ["JAX_ENABLE_X64"] = "1"

import jax
import jax.numpy as jnp
import numpy as np
import openvino as ov
from openvino import opset7, opset8

INDICES = [0, 2, -1, -3, 3, 5, -4, -7, 100, -100, 2**31 - 1, -(2**31)]
DTYPES = ["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f16", "f32", "f64", "c64", "bool"]
NUMPY = dict(
    u8="uint8", i8="int8", u16="uint16", i16="int16", u32="uint32", i32="int32", u64="uint64",
    i64="int64", f16="float16", f32="float32", f64="float64", c64="complex64", bool="bool",
)
NAMES = {np.dtype(v): k for k, v in NUMPY.items()}


def number(x):
    if isinstance(x, (complex, np.complexfloating)):
        return [number(x.real), number(x.imag)]
    if isinstance(x, (float, np.floating)):
        x = float(x)
        return "NaN" if x != x else x
    return int(x) if abs(int(x)) < 2**53 else str(int(x))


def tensor(a):
    a = np.ascontiguousarray(a).reshape(np.shape(a))
    t = {"dtype": NAMES[a.dtype], "shape": list(a.shape), "data": [number(x) for x in a.ravel()]}
    if a.dtype.kind in "fc" and np.isnan(a).any():
        t["bits"] = a.tobytes().hex()
    return t


def table(dtype, shape=(3, 2)):
    n = int(np.prod(shape))
    values = np.arange(1, n + 1)
    if dtype == "bool":
        values = values % 3 == 0
    return values.astype(NUMPY[dtype]).reshape(shape)


CASES = []


def case(name, params, indices, axis, neg, oob, profile, run, fill=None):
    attrs = {"axis": axis, "batch_dims": 0, "neg": neg, "oob": oob, "profile": profile}
    if fill is not None:
        attrs["fill"] = tensor(np.asarray(fill))
    c = {"op": "gather", "suite": "modes_recorded", "name": name, "params": tensor(params),
         "indices": tensor(indices), "attrs": attrs}
    try:
        c["expect"] = tensor(np.asarray(run()))
    except Exception as error:
        c["expect_error"] = {"kind": type(error).__name__, "message": str(error).splitlines()[0]}
    CASES.append(c)


def openvino(opset, params, indices, axis):
    p = opset8.parameter(list(params.shape), params.dtype)
    i = opset8.parameter(list(indices.shape), indices.dtype)
    model = ov.Model([opset.gather(p, i, np.int64(axis))], [p, i])
    return ov.Core().compile_model(model, "CPU")([params, indices])[0]


def record():
    i32, i64 = np.array(INDICES, np.int32), np.array(INDICES + [2**32 + 1, -(2**40)], np.int64)
    for mode, neg, oob in [("wrap", "oob", "wrap"), ("clip", "oob", "clip"), ("raise", "wrap", "error")]:
        # NumPy wraps by subtracting again and again, which for huge indices takes for ever.
        near = np.abs(i32.astype(np.int64)) < 1000
        i32 = i32[near] if mode == "wrap" else np.array(INDICES, np.int32)
        wide = i32.astype(np.int64) if mode == "wrap" else i64
        for dtype in DTYPES:
            p = table(dtype)
            case(f"numpy.take {mode} {dtype}", p, wide, 0, neg, oob, "numpy",
                 lambda: np.take(p, wide, axis=0, mode=mode))
        for axis in [0, 1, 2, -1]:
            p, i = table("i32", (2, 3, 4)), i32[:10].reshape(2, 5)
            case(f"numpy.take {mode} axis {axis}", p, i, axis, neg, oob, "numpy",
                 lambda: np.take(p, i, axis=axis, mode=mode))
        p, i = table("f32", (0, 2)), np.array([0], np.int32)
        case(f"numpy.take {mode} from nothing", p, i, 0, neg, oob, "numpy",
             lambda: np.take(p, i, axis=0, mode=mode))
    i32 = np.array(INDICES, np.int32)
    for dtype in DTYPES:
        p = table(dtype)
        # what jax.numpy.take fills with, found by asking it for one bad element
        fill = np.asarray(jnp.take(jnp.asarray(p[:, 0]), jnp.asarray([9]), axis=0))[0]
        case(f"jax.numpy.take fill {dtype}", p, i32, 0, "wrap", "fill", "jax",
             lambda: jnp.take(jnp.asarray(p), jnp.asarray(i32), axis=0), fill=fill)
        case(f"jax.numpy.take clip {dtype}", p, i32, 0, "oob", "clip", "jax",
             lambda: jnp.take(jnp.asarray(p), jnp.asarray(i32), axis=0, mode="clip"))
    for name, opset, neg in [("7", opset7, "oob"), ("8", opset8, "wrap")]:
        for dtype in ["u8", "i8", "i32", "i64", "f32"]:
            p = table(dtype)
            case(f"OpenVINO Gather-{name} {dtype}", p, i32, 0, neg, "zero", f"openvino-gather-{name}",
                 lambda: openvino(opset, p, i32, 0))
    return CASES


def main():
    cases = record()
    head = {
        "suite": "modes_recorded",
        "schema": "gather-conformance/1",
        "provenance": {
            "library": f"numpy {np.__version__}, jax {jax.__version__}, openvino {ov.__version__}",
            "source": "calls made up for this file",
            "how": "record_modes.py; attrs.oob is one of clip, wrap, fill, too, with attrs.fill a scalar",
        },
        "count": len(cases),
    }
    text = json.dumps(head)[:-1] + ', "cases": [\n' + ",\n".join(map(json.dumps, cases)) + "\n]}\n"
    sys.stdout.write(text)


main()
