"""ONNX Runtime on the CPU: a model of one node, with its tensors bound."""

import numpy as np
import onnx
import onnxruntime as ort

from . import Contestant, NotOffered, no_bad

NAME = "onnxruntime"


def version():
    return ort.__version__


def load(task):
    no_bad(task)
    indices, attributes, node = task.indices, {"axis": task.axis}, "Gather"
    if task.op == "gather_elements":
        node = "GatherElements"
    elif task.op == "gather_nd" or task.batch_dims > 0:
        # GatherND has the batch dims, and only 64-bit indices.
        node, attributes = "GatherND", {"batch_dims": task.batch_dims}
        if task.op == "gather":
            if task.axis != task.batch_dims:
                raise NotOffered("no axis behind the batch dims")
            indices = [set_[..., np.newaxis] for set_ in indices]
        indices = [np.ascontiguousarray(set_, dtype=np.int64) for set_ in indices]
    session = session_of(node, attributes, task.params.dtype, indices[0].dtype)
    value = ort.OrtValue.ortvalue_from_numpy
    params = value(task.params)
    feeds = [{"params": params, "indices": value(set_)} for set_ in indices]

    def numpy(output):
        return output.numpy()

    yield Contestant(
        f"{node}, run_with_ort_values",
        lambda n: session.run_with_ort_values(["output"], feeds[n])[0],
        numpy=numpy,
    )
    output = value(np.zeros(task.about["output_shape"], task.params.dtype))
    bindings = []
    for feed in feeds:
        binding = session.io_binding()
        for name, tensor in feed.items():
            binding.bind_ortvalue_input(name, tensor)
        binding.bind_ortvalue_output("output", output)
        bindings.append(binding)

    def bound(n):
        session.run_with_iobinding(bindings[n])
        return output

    yield Contestant(f"{node}, run_with_iobinding", bound, "kept", numpy=numpy)


def session_of(node, attributes, dtype, index_dtype):
    element = onnx.helper.np_dtype_to_tensor_dtype

    def tensor(name, dtype):
        return onnx.helper.make_tensor_value_info(name, element(np.dtype(dtype)), None)

    graph = onnx.helper.make_graph(
        [onnx.helper.make_node(node, ["params", "indices"], ["output"], **attributes)],
        "gather",
        [tensor("params", dtype), tensor("indices", index_dtype)],
        [tensor("output", dtype)],
    )
    opset = onnx.helper.make_opsetid("", 13)
    model = onnx.helper.make_model(graph, opset_imports=[opset], ir_version=8)
    return ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
