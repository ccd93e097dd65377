"""Ours, in a process of its own that answers on a pipe; and the cases, which it defines."""

import dataclasses
import json
import os
import pathlib
import subprocess

import numpy as np

DTYPES = {"f16": np.float16, "f32": np.float32, "i32": np.int32, "u8": np.uint8}
INDEX_TYPES = {"i32": np.int32, "i64": np.int64}


@dataclasses.dataclass
class Task:
    """A case with its tensors. `about` is what the results say of it."""

    about: dict
    params: np.ndarray
    indices: list
    right: np.ndarray

    @property
    def op(self):
        return self.about["op"]

    @property
    def axis(self):
        """The axis from the front; of a gather with batch dims, after those."""
        axis = self.about["axis"]
        axis = self.about["batch_dims"] if axis is None else axis
        return axis % self.params.ndim

    @property
    def batch_dims(self):
        return self.about["batch_dims"]

    @property
    def has_bad(self):
        return self.about["bad"] > 0

    def wrong(self, output):
        """What is wrong with the output of the last set of indices; None if nothing is."""
        got = np.ascontiguousarray(output).reshape(-1).view(np.uint8)
        if got.size != self.right.size:
            return f"{got.size} bytes, not {self.right.size}"
        different = np.flatnonzero(got != self.right)
        return f"{different.size} bytes differ, the first is {different[0]}" if different.size else None


class Server:
    """A command that serves cases, with their tensors in a folder."""

    def __init__(self, command, folder):
        self.folder = pathlib.Path(folder)
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            # Large pages for the tables, as NumPy has them.
            env=os.environ | {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"},
        )
        hello = self._answer()
        self.run, self.cases = hello["run"], hello["cases"]

    def _answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"ours ended with status {self.process.wait()}")
        return json.loads(line)

    def ask(self, request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return self._answer()

    def load(self, number):
        """The task of the case with this number, and our contestants for it."""
        answer = self.ask({"case": number})
        about = answer["case"]

        def read(file, dtype):
            return np.fromfile(self.folder / file, dtype=dtype)

        index_type = INDEX_TYPES[about["index_type"]]
        indices = [read(f"indices-{n}", index_type) for n in range(answer["sets"])]
        task = Task(
            about,
            read("params", DTYPES[about["dtype"]]).reshape(about["params_shape"]),
            [set_.reshape(about["indices_shape"]) for set_ in indices],
            read("output", np.uint8),
        )
        return task, self.contestants(answer)

    def contestants(self, answer):
        """Our calls for a case that was answered."""
        return [Ours(self, output, call) for output, call in answer["ours"].items()]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Ours:
    """A contestant: one of our calls, timed by the server."""

    def __init__(self, server, output, call):
        self.server, self.output, self.call = server, output, call

    def time(self, first, count, untimed=0):
        """The server begins with the gathers that are not timed, as everyone does: the time that
        its question and answer take lies outside."""
        request = {
            "time": {"output": self.output, "first": first, "untimed": untimed, "count": count}
        }
        return self.server.ask(request)["seconds"]
