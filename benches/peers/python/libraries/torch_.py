"""PyTorch on the CPU: index_select, gather and advanced indexing."""

import torch

from . import Contestant, components, no_bad

NAME = "torch"


def version():
    return torch.__version__


def load(task, device="cpu", wait=None):
    no_bad(task)
    torch.set_grad_enabled(False)
    params, axis = torch.from_numpy(task.params).to(device), task.axis

    def tensor(array):
        return torch.from_numpy(array).to(device)

    def contestant(call, gather, output="fresh"):
        return Contestant(call, gather, output, wait, lambda output: output.cpu().numpy())

    if task.op == "gather_elements":
        # int64 is the index type that all its versions take.
        indices = [tensor(set_).long() for set_ in task.indices]
        yield contestant("torch.gather", lambda n: torch.gather(params, axis, indices[n]))
        output = torch.gather(params, axis, indices[0])
        yield contestant(
            "torch.gather(out=)",
            lambda n: torch.gather(params, axis, indices[n], out=output),
            "kept",
        )
    elif task.op == "gather" and task.batch_dims == 0:
        indices = [tensor(set_) for set_ in task.indices]
        yield contestant(
            "torch.index_select", lambda n: torch.index_select(params, axis, indices[n])
        )
        output = torch.index_select(params, axis, indices[0])
        yield contestant(
            "torch.index_select(out=)",
            lambda n: torch.index_select(params, axis, indices[n], out=output),
            "kept",
        )
    else:
        sets = [components(task, set_) for set_ in task.indices]
        indices = [tuple(tensor(part).long() for part in set_) for set_ in sets]
        yield contestant("params[…]", lambda n: params[indices[n]])
