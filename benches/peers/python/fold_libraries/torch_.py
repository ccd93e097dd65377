"""PyTorch."""

import numpy as np
import torch

from fold import DTYPES, aligned
from fold_libraries import InPlace
from libraries import Contestant, NotOffered

torch.set_grad_enabled(False)
REDUCE = {"mul": ("prod", "prod"), "max": ("amax", "amax")}


def version():
    return torch.__version__


def tensor(values):
    if values.dtype == DTYPES["bf16"]:
        return torch.from_numpy(values.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(values)


def array(output):
    if output.dtype == torch.bfloat16:
        return output.view(torch.int16).numpy().view(DTYPES["bf16"])
    return output.numpy()


def calls(fold):
    # Ids of 64 bits are taken as they are.
    ids = [torch.from_numpy(set_).long() for set_ in fold.ids]
    if fold.verb == "bags":
        yield bags(fold, ids)
        return
    updates = tensor(fold.updates)
    if fold.verb == "gradient":
        rows = fold.shape[0]
        backward = torch.ops.aten.embedding_dense_backward
        call = lambda n: backward(updates, ids[n], rows, -1, False)
        yield Contestant("embedding_dense_backward", call, numpy=array)
        call = lambda n: updates.new_zeros(fold.shape).index_add_(0, ids[n], updates)
        yield Contestant("zeros, index_add_", call, numpy=array)
        return
    for name, scatter in scatters(fold, ids, updates):
        if fold.verb == "in place":
            yield InPlace(name, scatter, lambda: tensor(aligned(fold.rows)), numpy=array)
        else:
            rows = tensor(fold.rows)
            call = lambda n, scatter=scatter: scatter(rows.clone(), n)
            yield Contestant(f"clone, {name}", call, numpy=array)


def scatters(fold, ids, updates):
    """Functions that fold into rows and return them."""
    if fold.reduce == "none":
        yield "index_copy_", lambda rows, n: rows.index_copy_(0, ids[n], updates)
        return
    wide = [set_.unsqueeze(1).expand_as(updates) for set_ in ids]
    if fold.reduce == "add":
        yield "index_add_", lambda rows, n: rows.index_add_(0, ids[n], updates)
        if fold.shape[1] == 1:
            flat = updates.view(-1)
            call = lambda rows, n: rows.view(-1).scatter_add_(0, ids[n], flat).view(rows.shape)
            yield "scatter_add_ of one dim", call
        else:
            yield "scatter_add_", lambda rows, n: rows.scatter_add_(0, wide[n], updates)
        return
    index, scatter = REDUCE[fold.reduce]
    call = lambda rows, n: rows.index_reduce_(0, ids[n], updates, index)
    yield f"index_reduce_({index})", call
    call = lambda rows, n: rows.scatter_reduce_(0, wide[n], updates, scatter)
    yield f"scatter_reduce_({scatter})", call


def bags(fold, ids):
    weights = None if fold.weights is None else tensor(fold.weights)
    if fold.bytes is not None:
        table = torch.from_numpy(fold.bytes)
        flat = [set_.reshape(-1) for set_ in ids]
        offsets = torch.arange(0, flat[0].numel(), ids[0].shape[1])
        weights = None if weights is None else weights.reshape(-1)
        bag = torch.ops.quantized.embedding_bag_byte_rowwise_offsets
        call = lambda n: bag(
            table, flat[n], offsets, False, 0, False, weights, None, False
        )
        return Contestant("quantized.embedding_bag_byte_rowwise_offsets", call)
    if fold.codes is not None:
        raise NotOffered("no blocks of GGUF")
    rows, bag = tensor(fold.rows), torch.nn.functional.embedding_bag
    call = lambda n: bag(ids[n], rows, mode="sum", per_sample_weights=weights)
    return Contestant("embedding_bag", call, numpy=array)
