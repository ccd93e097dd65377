"""PyTorch on an NVIDIA GPU. The tensors are on the device; a turn ends with a synchronisation, as
ours ends with waiting for the device. What fits the L2 cache stays there in both."""

import torch

from . import NotOffered, torch_

NAME = "torch (CUDA)"

if not torch.cuda.is_available():
    raise ImportError("no NVIDIA GPU, or a PyTorch without CUDA")


def version():
    return f"{torch.__version__}, {torch.cuda.get_device_name()}"


def load(task):
    try:
        yield from torch_.load(task, "cuda", lambda _: torch.cuda.synchronize())
    except torch.cuda.OutOfMemoryError:
        raise NotOffered("out of memory") from None
