"""What a worker has besides Python: PyTorch and NumPy, with a simulated accelerator where a check wants one."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from grader import accelerator
from grader.wire.containers import PlainDecoder, PlainEncoder
from grader.wire.decode import Decoder
from grader.wire.encode import Encoder
from grader.wire.facts import AcceleratorFunctions
from grader.wire.table import ObjectTable, block_offsets
from grader.worker import builtin_probes, counting, surroundings
from grader.worker.importer import OwnModules
from grader.worker.libraries import Libraries

_SELF_CHECK_S = 20

_PRELOADED = ("numpy.random", "numpy.linalg", "torch.autograd.gradcheck", "torch.nn.functional")
"""What honest code needs and these packages import only when it is used: once here, not in each worker."""

PROBES = types.SimpleNamespace(**vars(builtin_probes))
"""As they are before student code is loaded; made once, before workers are forked."""


class WithTorch(Libraries):
    """PyTorch and NumPy; see `Libraries` for what its methods are for."""

    def __init__(self) -> None:
        self.probes = PROBES
        self._timed = True  # of the request before: by then nothing was filled
        self._gradients = True
        self._accelerator: AcceleratorFunctions | None = None

    def check_machine(self) -> None:
        """Exit unless a forked child can run an operation of PyTorch on two threads.

        On some machines such a child hangs.
        """
        pid = os.fork()
        if pid == 0:
            signal.alarm(_SELF_CHECK_S)  # ends it if it hangs
            torch.set_num_threads(2)
            (torch.ones(300, 300) @ torch.ones(300, 300)).sum().item()
            os._exit(0)
        _, status = os.waitpid(pid, 0)
        if status != 0:
            sys.exit("a forked child cannot run a parallel operation of torch on this machine; use --start spawn")

    def preload(self) -> None:
        """Import what workers use of PyTorch and NumPy, and warm up the counting of costs.

        Modules that are loaded here need not be loaded in each worker. `torch.compile` is replaced: see
        `surroundings.avoid_compiler`.
        """
        for name in _PRELOADED:
            importlib.import_module(name)
        surroundings.avoid_compiler()
        counting.warm_up()

    def preload_devices(self) -> None:
        """Import the modules of a simulated accelerator that are quick to import."""
        accelerator.preload()

    def prepare_devices(self) -> None:
        """Import all modules that a simulated accelerator needs."""
        accelerator.preload()
        accelerator.preload_operations()

    def encoder(self, table: ObjectTable, child_of_object: Callable[[Any], list[Any]]) -> PlainEncoder:
        """Return an encoder for a reply of this worker.

        Args:
            table: the objects of the request, which the reply refers to.
            child_of_object: a function that gets an object that is not a value, and returns the list that replaces this
                object.
        """
        return Encoder(table, child_of_object, answers=True, accelerator=self._accelerator)

    def decoder(self, table: ObjectTable, object_of_child: Callable[..., Any]) -> PlainDecoder:
        """Return a decoder for a request to this worker.

        Args:
            table: the table that gets the objects of the request.
            object_of_child: a function that finds the object of this process that a request names.
        """
        return Decoder(table, object_of_child, answers=True, accelerator=self._accelerator)

    def begin_request(self, *, timed: bool) -> None:
        """Switch the filling of new memory on or off for a request.

        It is off for a timed request, since filling takes time. The accelerator is prepared for the request, too.
        """
        if timed is not self._timed:
            self._timed = timed
            surroundings.fill_memory(not timed)
        if self._accelerator is not None:
            self._accelerator.begin_request()

    def modules(self, folder: str, files: Mapping[str, bytes], without: Sequence[str]) -> OwnModules:
        """Return an importer of a submission's modules, which may import all installed packages.

        Args:
            folder: the folder of its files.
            files: the contents of its Python files, by path.
            without: the packages that the exercise forbids. It is ignored here: only workers without PyTorch forbid
                packages.
        """
        del without
        return OwnModules(folder, files)

    def set_device_mode(self, mode: str) -> None:
        """Make PyTorch find a simulated accelerator, CUDA or none, as long as this process lives.

        Args:
            mode: "sim" for a simulated accelerator, "sim-cuda" for one that calls itself cuda, "cuda" for a real GPU,
                or "none".
        """
        self._accelerator = surroundings.set_device_mode(mode)

    def record_import(self) -> None:
        """Record if the import of the submission left the recording of gradients on, for `seed`."""
        self._gradients = torch.is_grad_enabled()

    def seed(self, number: int) -> None:
        """Seed all random generators, and undo a `torch.set_grad_enabled` of the last call.

        Recording of gradients is on or off again as it was after the import of the submission; see `record_import`.

        Args:
            number: the seed.
        """
        surroundings.seed(number, devices=self._accelerator is not None)
        # A function that leaves gradients switched off fails its own check, not the next.
        torch.set_grad_enabled(self._gradients)

    def write_inputs(self, blocks: Sequence[Any], data: memoryview) -> None:
        """Write the elements of new inputs into the arguments of the timed calls.

        Args:
            blocks: the memory of the arguments, in the order in which their elements follow in `data`.
            data: the new elements, block after block, each padded as in a message.
        """
        for block, start in zip(blocks, block_offsets([block.nbytes for block in blocks]), strict=False):
            block.data[:] = np.frombuffer(data[start : start + block.nbytes], np.uint8)
