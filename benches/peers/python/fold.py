"""A fold with its tensors, as NumPy's arrays in memory that starts with a page."""

import mmap

import ml_dtypes
import numpy as np

DTYPES = {
    "bf16": ml_dtypes.bfloat16,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "i8": np.int8,
    "i32": np.int32,
}


def aligned(values):
    """A copy in large pages, as ours has them."""
    memory = mmap.mmap(-1, max(values.nbytes, 1))
    if hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE)
    copy = np.frombuffer(memory, dtype=values.dtype, count=values.size).reshape(values.shape)
    copy[...] = values
    return copy


class Fold:
    """A case. `verb` is scatter (to a copy of the rows), in place, gradient, or bags; `reduce` is none, add,
    mul or max. A quantized table has no `rows` but `codes` and `scales`, or is `stored` in rows of bytes."""

    def __init__(self, about, folder, sets):
        def read(file, dtype, *shape):
            return aligned(np.fromfile(folder / file, dtype=dtype).reshape(*shape))

        self.name, self.verb, self.reduce = about["case"], about["verb"], about["reduce"]
        self.stored, self.dtype = about["stored"], about["dtype"]
        self.shape = (about["rows"], about["columns"])
        dtype = DTYPES[self.dtype]
        self.ids = [read(f"ids-{n}", np.int32, *about["ids_shape"]) for n in range(sets)]
        self.updates = read("updates", dtype, -1, about["columns"])
        self.weights = read("weights", dtype, *about["ids_shape"]) if about["weighted"] else None
        self.right = np.fromfile(folder / "output", dtype=dtype)
        self.rows = self.codes = self.scales = self.bytes = None
        if self.stored == self.dtype:
            self.rows = read("rows", dtype, *self.shape)
        elif self.stored == "rows of bytes":
            self.bytes = read("rows", np.uint8, self.shape[0], -1)
        else:
            self.codes, self.scales = self._blocks(read("rows", np.uint8, -1))

    def _blocks(self, table):
        """The codes of each block as they are stored, and its scale."""
        columns = self.shape[1] // 32
        width = {"Q8_0": 34, "Q4_0": 18}[self.stored]
        blocks = table.reshape(self.shape[0], columns, width)
        scales = np.ascontiguousarray(blocks[..., :2]).view(np.float16)
        codes = np.ascontiguousarray(blocks[..., 2:])
        return aligned(codes.view(np.int8) if self.stored == "Q8_0" else codes), aligned(scales)

    def decoded(self, numpy, codes, scales):
        """The elements of rows of blocks, with the functions of NumPy or JAX."""
        scales = scales.astype(np.float32)
        if self.stored == "Q4_0":
            halves = [codes & 15, codes >> 4]
            codes = numpy.concatenate(halves, axis=-1).astype(np.float32) - np.float32(8)
        return (codes * scales).reshape(*codes.shape[:-2], self.shape[1])

    def wrong(self, output):
        """What is wrong with the output of the last set of ids; None if nothing is."""
        got, right = np.asarray(output).reshape(-1), self.right
        if got.dtype != right.dtype or got.size != right.size:
            return f"{got.size} {got.dtype}, not {right.size} {right.dtype}"
        different = np.flatnonzero(got != right)
        if different.size:
            at = different[0]
            return f"{different.size} differ, element {at} is {got[at]}, not {right[at]}"
        return None
