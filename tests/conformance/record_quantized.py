"""Records gathers from quantised tables, as case files of the schema gather-quantized/1.

    pip install numpy onnx onnxruntime gguf ml_dtypes torch
    python record_quantized.py quantized

Never needed to build or test: the files are committed. README.md describes the schema.
"""

import json
import pathlib
import sys
from fractions import Fraction

import gguf
import ml_dtypes
import numpy as np
import onnx
import onnxruntime as ort
import torch
from gguf import quants
from onnx import TensorProto, helper

ort.set_default_logger_severity(4)
RNG = np.random.default_rng(17)
FLOATS = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
INTS = {"i32": np.int32, "i64": np.int64, "u32": np.uint32, "u64": np.uint64}
FILLS = {"f32": np.uint32(0xFFC0_0000), "f16": np.uint16(0x3E00), "bf16": np.uint16(0xFFC0)}  # NaN, 1.5, NaN


class BadIndices(Exception):
    pass


# ---- the operators, on decoded tables ----------------------------------------------------------


def resolve(indices, extent, neg, oob):
    """Positions for `indices`, and which of them are bad."""
    at = indices.astype(object)
    if neg == "wrap":
        at = np.where((at >= -extent) & (at < 0), at + extent, at)
    if oob == "wrap":
        at = at % extent
    if oob == "clip":
        at = np.clip(at, 0, extent - 1)
    bad = np.asarray((at < 0) | (at >= extent), bool)
    if oob == "error" and bad.any():
        raise BadIndices
    return np.where(bad, 0, at).astype(np.int64), bad


def gather(op, attrs, table, indices, fill):
    neg, oob = attrs["neg"], attrs["oob"]
    if op == "gather":
        batch = attrs["batch_dims"]
        axis = batch if attrs["axis"] is None else attrs["axis"] % table.ndim
        at, bad = resolve(indices, table.shape[axis], neg, oob)
        parts = []
        for b in np.ndindex(indices.shape[:batch]):
            rows = np.take(table[b], at[b], axis=axis - batch)
            mask = bad[b].reshape((1,) * (axis - batch) + bad[b].shape + (1,) * (table.ndim - 1 - axis))
            parts.append(np.where(mask, fill, rows))
        return np.stack(parts).reshape(indices.shape[:batch] + parts[0].shape) if batch else parts[0]
    if op == "gather_elements":
        axis = attrs["dim"] % table.ndim
        at, bad = resolve(indices, table.shape[axis], neg, oob)
        view = tuple(slice(None) if d == axis else slice(0, e) for d, e in enumerate(indices.shape))
        return np.where(bad, fill, np.take_along_axis(table[view], at, axis=axis))
    batch, depth = attrs["batch_dims"], indices.shape[-1]
    pairs = [resolve(indices[..., k], table.shape[batch + k], neg, oob) for k in range(depth)]
    out = np.empty(indices.shape[:-1] + table.shape[batch + depth :], table.dtype)
    for o in np.ndindex(indices.shape[:-1]):
        bad = any(b[o] for _, b in pairs)
        out[o] = fill if bad else table[o[:batch] + tuple(p[o] for p, _ in pairs)]
    return out


# ---- cases ------------------------------------------------------------------------------------


def hexed(a):
    return np.ascontiguousarray(a).tobytes().hex()


def index_tensor(a):
    name = next(k for k, v in INTS.items() if np.dtype(v) == a.dtype)
    data = [int(x) if abs(int(x)) < 2**53 else str(int(x)) for x in a.ravel()]
    return {"dtype": name, "shape": list(a.shape), "data": data}


def case(name, table, op, attrs, indices, output, expect, fused=None):
    """`table`: the fields that describe the quantised tensor."""
    c = {"name": name, "table": table, "op": op, "attrs": attrs, "indices": index_tensor(indices),
         "output": output}
    if isinstance(expect, str):
        c["expect_error"] = expect
    else:
        c["expect_shape"] = list(expect.shape)
        c["expect"] = hexed(expect)
        if fused is not None and hexed(fused) != c["expect"]:
            c["expect_fused"] = hexed(fused)
    return c


def draw_indices(shape, extent, neg, oob, kind):
    """Indices that the rules have an answer for, half of the time with bad ones among them."""
    dtype = INTS[kind]
    signed = np.issubdtype(dtype, np.signedinteger)
    low = -extent if neg == "wrap" and signed else 0
    a = RNG.integers(low, extent, shape).astype(object)
    if oob != "error" and a.size and RNG.random() < 0.6:
        bad = [extent, extent + 1, 3 * extent + 1, np.iinfo(dtype).max]
        if signed:
            bad += [-extent - 1, -1, -3 * extent - 2, np.iinfo(dtype).min]
        if np.iinfo(dtype).bits == 64:
            bad += [2**32, 2**32 + 1]
        flat = a.ravel()
        for k in RNG.choice(flat.size, max(1, flat.size // 3), replace=False):
            flat[k] = int(bad[RNG.integers(len(bad))])
        a = flat.reshape(shape)
    elif oob == "error" and a.size and RNG.random() < 0.15:
        flat = a.ravel()
        flat[RNG.integers(flat.size)] = extent
        a = flat.reshape(shape)
    return a.astype(dtype)


def draw_call(shape, output, whole_rows):
    """An operator with attributes, rules and indices for a table of `shape`."""
    op = ["gather", "gather", "gather", "gather_nd", "gather_elements"][RNG.integers(5)]
    if whole_rows:
        op = "gather"
    neg = ["oob", "wrap"][RNG.integers(2)]
    oob = ["zero", "zero", "fill", "clip", "wrap", "error"][RNG.integers(6)]
    kind = ["i32", "i64", "u32", "u64"][RNG.choice(4, p=[0.4, 0.4, 0.1, 0.1])]
    attrs = {"neg": neg, "oob": oob}
    if oob == "fill":
        value = 1.5 if output == "f16" else "NaN"
        attrs["fill"] = {"dtype": output, "shape": [], "data": [value], "bits": hexed(FILLS[output])}
    rank = len(shape)
    if op == "gather":
        axis = 0 if whole_rows or RNG.random() < 0.7 else int(RNG.integers(-rank, rank))
        attrs |= {"axis": axis, "batch_dims": 0}
        ishape = [(3,), (2, 2), (), (1,), (4,)][RNG.integers(5)]
        if not whole_rows and rank > 1 and RNG.random() < 0.15:
            attrs |= {"axis": None, "batch_dims": 1}
            ishape = (shape[0], 2)
            axis = 1
        indices = draw_indices(ishape, shape[axis], neg, oob, kind)
    elif op == "gather_elements":
        axis = int(RNG.integers(-rank, rank))
        attrs["dim"] = axis
        ishape = [min(e, int(RNG.integers(1, 5))) for e in shape[:-1]]
        ishape.append(min(shape[-1], int(RNG.integers(3, 12))))
        ishape[axis] = int(RNG.integers(1, 6))
        indices = draw_indices(tuple(ishape), shape[axis], neg, oob, kind)
    else:
        batch = int(RNG.random() < 0.2) if rank > 1 else 0
        depth = int(RNG.integers(1, rank - batch + 1))
        attrs["batch_dims"] = batch
        head = tuple(shape[:batch]) + (int(RNG.integers(1, 5)),)
        columns = [draw_indices(head, shape[batch + k], neg, oob, kind) for k in range(depth)]
        indices = np.stack(columns, axis=-1)
    return op, attrs, indices


def answer(op, attrs, decoded, indices, output):
    """The output of a gather from the decoded table, rounded once to its type."""
    dtype = FLOATS[output]
    fill = FILLS[output].view(dtype) if attrs["oob"] == "fill" else dtype(0)
    with np.errstate(over="ignore"):
        table = decoded.astype(np.float32).astype(dtype)
    try:
        return gather(op, attrs, table, indices, fill)
    except BadIndices:
        return "an index is out of bounds"


# ---- ONNX blocks ------------------------------------------------------------------------------


def pack(codes, bits):
    """Codes in bytes, the low bits first; each row begins a byte."""
    per = 8 // bits
    codes = np.pad(codes, [(0, 0)] * (codes.ndim - 1) + [(0, -codes.shape[-1] % per)])
    codes = codes.reshape(codes.shape[:-1] + (-1, per)).astype(np.uint8) & ((1 << bits) - 1)
    return np.bitwise_or.reduce(codes << (np.arange(per, dtype=np.uint8) * bits), axis=-1)


def signed(codes, bits):
    half = 1 << (bits - 1)
    return (codes ^ half) - half


def scales_of(shape, kind):
    """Scales of every size that gives finite products, and zeros and subnormals among them."""
    dtype = FLOATS[kind]
    low, high = {"f32": (-30, 30), "f16": (-8, 5), "bf16": (-30, 30)}[kind]
    s = np.exp2(RNG.uniform(low, high, shape)) * RNG.choice([-1, 1], shape, p=[0.3, 0.7])
    s = np.asarray(s).astype(dtype)
    info = ml_dtypes.finfo(dtype)
    special = [0.0, -0.0, 1.0, float(info.smallest_normal), float(info.smallest_subnormal) * 3,
               float(info.smallest_normal) / 2 * 1.5]
    for at in np.ndindex(s.shape):
        if RNG.random() < 0.15:
            s[at] = dtype(special[RNG.integers(len(special))])
    return s


def onnx_table(shape, storage, bits, block, axis, kind, zeros):
    """Codes, scales, zero points as integers, and the fields of the case."""
    axis %= len(shape)
    codes = RNG.integers(0, 1 << bits, shape)
    blocks = list(shape)
    blocks[axis] = -(-shape[axis] // block)
    scales = scales_of(blocks, kind)
    zp = RNG.integers(0, 1 << bits, blocks) if zeros else None
    is_signed = storage.startswith("i")
    # Rows of bytes where ONNX counts bytes; codes without a gap where it counts 4-bit elements.
    packed = (lambda a: pack(a, bits)) if storage == "u8" else (lambda a: pack(a.reshape(1, -1), bits))
    default = 1 << (bits - 1) if storage == "u8" else 0
    table = {"format": "onnx", "shape": list(shape), "bits": bits, "signed": is_signed,
             "block": block, "axis": axis, "scale_type": kind, "default_zero": default,
             "codes": hexed(packed(codes)), "scales": hexed(scales)}
    if zp is not None:
        table["zero_points"] = hexed(zp.astype(np.uint8))
    value = (lambda a: signed(a, bits)) if is_signed else (lambda a: a)
    zp_values = value(zp) if zeros else np.full(blocks, default)
    return value(codes), scales, zp_values, packed(codes), packed(zp) if zeros else None, table


def onnx_decode(codes, scales, zp, block, axis):
    """(code - zero point) * scale in f32, not yet in a type of less bits."""
    spread = lambda a: np.take(np.repeat(a, block, axis), np.arange(codes.shape[axis]), axis=axis)
    return (codes - spread(zp)).astype(np.float32) * spread(scales.astype(np.float32))


ONNX_TYPES = {"u8": TensorProto.UINT8, "u4": TensorProto.UINT4, "i4": TensorProto.INT4,
              "f32": TensorProto.FLOAT, "f16": TensorProto.FLOAT16, "bf16": TensorProto.BFLOAT16,
              "i32": TensorProto.INT32, "i64": TensorProto.INT64}


def onnx_run(storage, bits, shape, packed, scales, kind, packed_zp, indices, index_kind, gather_axis,
             axis, block, blocks=None):
    def constant(name, kind, shape, raw):
        t = TensorProto(name=name, data_type=ONNX_TYPES[kind], raw_data=raw)
        t.dims.extend(shape)
        return t

    shape_of = lambda a, logical: a.shape if storage == "u8" else logical
    blocks = scales.shape if blocks is None else blocks
    inits = [constant("data", storage, shape_of(packed, shape), packed.tobytes()),
             constant("scales", kind, scales.shape, scales.tobytes())]
    inputs = ["data", "indices", "scales"]
    if packed_zp is not None:
        inits.append(constant("zp", storage, shape_of(packed_zp, blocks), packed_zp.tobytes()))
        inputs.append("zp")
    attributes = {"gather_axis": gather_axis, "quantize_axis": axis, "block_size": block}
    if storage == "u8":
        attributes["bits"] = bits
    node = helper.make_node("GatherBlockQuantized", inputs, ["out"], domain="com.microsoft", **attributes)
    graph = helper.make_graph(
        [node], "g",
        [helper.make_tensor_value_info("indices", ONNX_TYPES[index_kind], indices.shape)],
        [helper.make_tensor_value_info("out", ONNX_TYPES[kind], None)], inits)
    model = helper.make_model(
        graph, ir_version=10,
        opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)])
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"indices": indices})[0]


def onnx_shape(storage, bits, block):
    """A shape of few elements whose quantised axis has a short last block, mostly."""
    long = int(RNG.choice([block - 3, block, block + 1, 2 * block + 5]))
    if storage == "u8":
        long = max(1, -(-long * bits // 8)) * 8 // bits
        return (3, 2, long) if RNG.integers(5) == 0 else (int(RNG.integers(1, 6)), long)
    shape = [int(RNG.integers(1, 5)) for _ in range(int(RNG.choice([2, 2, 3])))]
    shape[RNG.integers(len(shape))] = long
    return tuple(shape)


def record_ort():
    """What ONNX Runtime's CPU provider answers; bad indices are zeros there."""
    cases = []
    for n in range(900):
        storage = ["u8", "u8", "i4", "u4"][n % 4]
        bits = [2, 4, 8][RNG.integers(3)] if storage == "u8" else 4
        bits = int(bits)
        block = int(RNG.choice([16, 16, 16, 32, 64]))
        kind = ["f32", "f16"][RNG.integers(2)]
        shape = onnx_shape(storage, bits, block)
        rank = len(shape)
        axis = rank - 1 if storage == "u8" else int(np.argmax(shape))
        gather_axis = 0 if storage == "u8" else int(RNG.integers(0, rank))
        zeros = bool(RNG.integers(2))
        codes, scales, zp, packed, packed_zp, table = onnx_table(shape, storage, bits, block, axis, kind, zeros)
        index_kind = ["i32", "i64"][RNG.integers(2)]
        ishape = [(3,), (2, 2), (), (1,), (4,), (0,)][RNG.choice(6, p=[0.3, 0.2, 0.1, 0.15, 0.2, 0.05])]
        indices = draw_indices(ishape, shape[gather_axis], "wrap", "zero", index_kind)
        # Either sign of an axis is the same axis.
        asked = [(gather_axis, axis), (gather_axis - rank, axis - rank)][RNG.integers(2) if storage != "u8" else 0]
        got = onnx_run(storage, bits, shape, packed, scales, kind, packed_zp, indices, index_kind, *asked, block)
        table["axis"] = asked[1]
        attrs = {"axis": asked[0], "batch_dims": 0, "neg": "wrap", "oob": "zero"}
        # The reading of the format in this file, so that recorded answers and derived ones agree.
        with np.errstate(over="ignore"):
            derived = onnx_decode(codes, scales, zp, block, axis).astype(FLOATS[kind])
        derived = gather("gather", attrs, derived, indices, FLOATS[kind](0))
        assert hexed(got) == hexed(derived) and got.shape == derived.shape, (n, table, attrs, indices)
        name = f"ORT {storage} {bits} bits block {block} {kind}{' zero points' if zeros else ''} #{n}"
        cases.append(case(name, table, "gather", attrs, indices, kind, got))
    return cases + record_ort_errors()


def record_ort_errors():
    """Tables that do not fit together, which ONNX Runtime refuses, too."""
    cases = []

    def refused(name, change, **run):
        codes, scales, zp, packed, packed_zp, table = onnx_table((5, 40), "i4", 4, 16, 1, "f32", True)
        indices = np.array([0, 4], np.int32)
        call = {"gather_axis": 0, "axis": 1, "block": 16} | run
        zp = np.asarray(zp, np.uint8) & 15
        scales, zp = change(scales, zp)
        packed_zp = pack(zp.reshape(1, -1), 4)
        table |= {"scales": hexed(scales), "zero_points": hexed(zp), "axis": call["axis"],
                  "block": call["block"]}
        attrs = {"axis": call["gather_axis"], "batch_dims": 0, "neg": "wrap", "oob": "zero"}
        try:
            onnx_run("i4", 4, (5, 40), packed, scales, "f32", packed_zp, indices, "i32", **call, blocks=zp.shape)
        except Exception as error:
            text = str(error).splitlines()[0].split("] ")[-1]
            cases.append(case(f"ORT {name}", table, "gather", attrs, indices, "f32", text))
        else:
            raise AssertionError(name)

    same = lambda s, z: (s, z)
    wide = lambda a: np.pad(a, [(0, 0), (0, 1)])
    refused("quantize_axis beyond the rank", same, axis=2)
    refused("quantize_axis before the rank", same, axis=-3)
    refused("gather_axis beyond the rank", same, gather_axis=2)
    refused("gather_axis before the rank", same, gather_axis=-3)
    refused("block_size negative", same, block=-16)
    refused("block_size of another number of blocks", same, block=32)
    refused("scales of one block too many", lambda s, z: (wide(s), z))
    refused("scales of one row too few", lambda s, z: (s[:-1], z))
    refused("zero points of one block too many", lambda s, z: (s, wide(z)))
    refused("zero points of one row too few", lambda s, z: (s, z[:-1]))
    return cases


def record_onnx_derived():
    """What ONNX Runtime has no kernel for: bf16 scales, other outputs, blocks, operators, rules."""
    cases = []
    for n in range(420):
        bits = int(RNG.choice([2, 4, 8]))
        storage = ["u8", f"i{bits}", f"u{bits}x"][RNG.integers(3)]
        block = int(RNG.choice([1, 2, 3, 5, 7, 16, 24, 32, 33, 1000]))
        rank = int(RNG.choice([1, 2, 2, 3, 4]))
        axis = int(RNG.integers(-rank, rank))
        shape = [int(RNG.integers(1, 5)) for _ in range(rank)]
        shape[axis] = max(1, min(int(RNG.choice([block, block + 1, 2 * block + block // 2, 11])), 48))
        if storage == "u8":
            shape[-1] = -(-shape[-1] * bits // 8) * 8 // bits
        kind = ["f32", "f16", "bf16", "bf16"][RNG.integers(4)]
        output = ["f32", "f16", "bf16"][RNG.integers(3)]
        zeros = bool(RNG.integers(2))
        codes, scales, zp, _, _, table = onnx_table(tuple(shape), storage, bits, block, axis, kind, zeros)
        decoded = onnx_decode(codes, scales, zp, block, axis % rank)
        op, attrs, indices = draw_call(shape, output, False)
        name = f"NumPy {bits} bits {'signed ' if table['signed'] else ''}block {block} {kind} to {output} #{n}"
        cases.append(case(name, table, op, attrs, indices, output, answer(op, attrs, decoded, indices, output)))
    return cases


# ---- GGUF blocks ------------------------------------------------------------------------------

# Where the f16 numbers of a block are.
GGUF = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "IQ4_NL": [0],
        "MXFP4": [], "Q2_K": [80, 82], "Q3_K": [108], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208],
        "F16": [0], "BF16": []}


def gguf_blocks(kind, rows, blocks, n):
    """Random bytes as blocks, of finite scales; or real numbers, quantised, where gguf can."""
    qtype = gguf.GGMLQuantizationType[kind]
    elements, size = gguf.GGML_QUANT_SIZES[qtype]
    if n % 4 == 0 and not kind.endswith("_K") and kind != "IQ4_NL":
        real = (RNG.standard_normal((rows, blocks * elements)) * np.exp2(RNG.uniform(-6, 6))).astype(np.float32)
        return np.ascontiguousarray(quants.quantize(real, qtype)).view(np.uint8).reshape(rows, -1, size)
    raw = RNG.integers(0, 256, (rows, blocks, size), dtype=np.uint8)
    special = np.array([0, 0x8000, 1, 0x8001, 0x03FF, 0x0400, 0x8400, 0x7BFF, 0xFBFF, 0x3C00, 0xBC00], np.uint16)
    for at in GGUF[kind]:
        d = np.exp2(RNG.uniform(-16, 4, (rows, blocks))) * RNG.choice([-1, 1], (rows, blocks))
        d = d.astype(np.float16).view(np.uint16)
        odd = RNG.random((rows, blocks)) < 0.3
        d = np.where(odd, special[RNG.integers(len(special), size=(rows, blocks))], d)
        raw[..., at : at + 2] = d.astype("<u2").view(np.uint8).reshape(rows, blocks, 2)
    if kind == "MXFP4":  # every exponent but NaN's
        raw[..., 0] = np.where(RNG.random((rows, blocks)) < 0.3, RNG.choice([0, 1, 2, 252, 253, 254]),
                               RNG.integers(0, 255, (rows, blocks)))
    if kind == "BF16":  # as F16 above: numbers, and the odd ones of them
        odd = np.array([0, 0x8000, 1, 0x8001, 0x007F, 0x0080, 0x7F7F, 0xFF7F], np.uint16)
        numbers = raw.view("<u2")[..., 0]
        numbers = np.where((numbers & 0x7F80) == 0x7F80, odd[RNG.integers(len(odd), size=numbers.shape)], numbers)
        raw = numbers.astype("<u2").view(np.uint8).reshape(raw.shape)
    return raw


def record_gguf():
    cases = []
    for kind in GGUF:
        qtype = gguf.GGMLQuantizationType[kind]
        elements, size = gguf.GGML_QUANT_SIZES[qtype]
        for n in range({256: 72, 32: 90, 1: 36}[elements]):
            blocks = {256: 1, 32: int(RNG.integers(1, 4)), 1: int(RNG.choice([1, 2, 3, 5, 8, 13, 32]))}[elements]
            rows = {256: int(RNG.integers(1, 4)), 32: int(RNG.integers(1, 6)), 1: int(RNG.integers(1, 6))}[elements]
            raw = gguf_blocks(kind, rows, blocks, n)
            with np.errstate(all="ignore"):
                decoded = quants.dequantize(raw.reshape(rows, -1), qtype).reshape(rows, blocks * elements)
            assert not np.isnan(decoded).any()
            shape = [rows, 1, blocks * elements] if RNG.integers(4) == 0 else [rows, blocks * elements]
            decoded = decoded.reshape(shape)
            output = ["f32", "f16", "bf16"][n % 3]
            # Slices of many elements go to the rows only, for the size of the file.
            op, attrs, indices = draw_call(shape, output, elements == 256 and n % 2 == 0)
            if elements == 256 and op == "gather" and not attrs["batch_dims"] and indices.size > 2:
                indices = indices[:2]
            table = {"format": kind.lower(), "shape": list(shape), "codes": hexed(raw)}
            got = answer(op, attrs, decoded, indices, output)
            cases.append(case(f"gguf {kind} to {output} #{n}", table, op, attrs, indices, output, got))
    return cases


# ---- rows of bytes with scale and bias; FP8 ---------------------------------------------------


def rounded(exact):
    """The f32 nearest to an exact fraction, ties to even."""
    near = np.float32(float(exact))
    around = [np.nextafter(near, np.float32(-np.inf)), near, np.nextafter(near, np.float32(np.inf))]
    far = lambda x: (abs(Fraction(float(x)) - exact), int(np.float32(x).view(np.uint32)) & 1)
    return min(around, key=far)


def record_fbgemm():
    """Rows as PyTorch packs and unpacks them; the bits of one rounding beside those of two."""
    cases = []
    for n in range(120):
        rows, columns = int(RNG.integers(1, 6)), int(RNG.choice([1, 3, 4, 7, 16, 33, 40]))
        real = (RNG.standard_normal((rows, columns)) * np.exp2(RNG.uniform(-8, 8)) + RNG.uniform(-3, 3))
        packed = torch.ops.quantized.embedding_bag_byte_prepack(torch.from_numpy(real.astype(np.float32))).numpy()
        if n % 3 == 0:
            packed = packed.copy()
            packed[:, :columns] = RNG.integers(0, 256, (rows, columns))
            s = np.stack([scales_of((rows,), "f32"), scales_of((rows,), "f32")], axis=1)
            packed[:, columns:] = s.view(np.uint8)
        scale = packed[:, columns : columns + 4].copy().view(np.float32)
        bias = packed[:, columns + 4 :].copy().view(np.float32)
        codes = packed[:, :columns].astype(np.float32)
        twice = codes * scale + bias
        once = np.array([[rounded(Fraction(float(c)) * Fraction(float(s[0])) + Fraction(float(b[0])))
                          for c in r] for r, s, b in zip(codes, scale, bias)], np.float32).reshape(twice.shape)
        # An exact zero has no sign as a fraction.
        once = np.where(once == 0, twice, once)
        theirs = torch.ops.quantized.embedding_bag_byte_unpack(torch.from_numpy(packed)).numpy()
        bits = lambda a: a.view(np.uint32)
        assert ((bits(theirs) == bits(twice)) | (bits(theirs) == bits(once))).all()
        output = ["f32", "f16", "bf16"][n // 3 % 3]
        op, attrs, indices = draw_call([rows, columns], output, False)
        table = {"format": "fbgemm", "shape": [rows, columns], "codes": hexed(packed)}
        two, one = (answer(op, attrs, t, indices, output) for t in (twice, once))
        cases.append(case(f"PyTorch byte rows to {output} #{n}", table, op, attrs, indices, output, two,
                          None if isinstance(one, str) else one))
    return cases


def record_fp8():
    """e4m3 (the type without infinities) with e8m0 scales, by ml_dtypes."""
    cases = []
    for n in range(150):
        rows, block = int(RNG.integers(1, 5)), int(RNG.choice([32, 32, 16, 128]))
        columns = int(RNG.choice([block, block + 3, block // 2, 2 * block]))
        columns = min(columns, 64)
        codes = RNG.integers(0, 256, (rows, columns), dtype=np.uint8)
        codes = np.where((codes & 0x7F) == 0x7F, codes & 0x80, codes).astype(np.uint8)  # no NaN
        blocks = -(-columns // block)
        scales = RNG.integers(97, 157, (rows, blocks), dtype=np.uint8)
        odd = np.array([0, 1, 2, 127, 253, 254], np.uint8)
        scales = np.where(RNG.random((rows, blocks)) < 0.2, odd[RNG.integers(6, size=(rows, blocks))], scales)
        spread = np.repeat(scales.view(ml_dtypes.float8_e8m0fnu).astype(np.float32), block, axis=1)[:, :columns]
        with np.errstate(all="ignore"):
            decoded = codes.view(ml_dtypes.float8_e4m3fn).astype(np.float32) * spread
        output = ["f32", "f16", "bf16"][n % 3]
        op, attrs, indices = draw_call([rows, columns], output, False)
        table = {"format": "fp8_e4m3", "shape": [rows, columns], "block": block, "axis": 1,
                 "codes": hexed(codes), "scales": hexed(scales)}
        got = answer(op, attrs, decoded, indices, output)
        cases.append(case(f"ml_dtypes e4m3 block {block} to {output} #{n}", table, op, attrs, indices, output, got))
    return cases


# ---- files ------------------------------------------------------------------------------------


def write(folder, suite, library, source, cases):
    head = {"suite": suite, "schema": "gather-quantized/1",
            "provenance": {"library": library, "source": source, "how": "record_quantized.py"},
            "count": len(cases)}
    lines = [json.dumps(c, separators=(",", ":")) for c in cases]
    text = json.dumps(head)[:-1] + ', "cases": [\n' + ",\n".join(lines) + "\n]}\n"
    (pathlib.Path(folder) / f"{suite}.json").write_text(text)
    errors = sum("expect_error" in c for c in cases)
    print(f"{suite}: {len(cases)} cases, {errors} of them errors, {len(text)} bytes")


def main(folder):
    numpy, recorded = f"numpy {np.__version__}", "calls made up for this file"
    write(folder, "ort_blocks", f"onnxruntime {ort.__version__} (CPU), onnx {onnx.__version__}", recorded, record_ort())
    write(folder, "numpy_blocks", f"{numpy}, ml_dtypes {ml_dtypes.__version__}",
          "the formula that the cases of ort_blocks confirm", record_onnx_derived())
    write(folder, "gguf_blocks", f"gguf 0.19.0 (quants.dequantize), {numpy}", recorded, record_gguf())
    write(folder, "rows_and_fp8", f"torch {torch.__version__}, ml_dtypes {ml_dtypes.__version__}, {numpy}",
          recorded, record_fbgemm() + record_fp8())


main(sys.argv[1])
