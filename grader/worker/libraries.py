"""What a worker has besides Python: here nothing but the standard library. `with_torch` adds PyTorch and NumPy.

The worker server and its workers are written once; where PyTorch makes a difference, they ask the object of this page.
"""

from __future__ import annotations

import ctypes
import importlib
import random
import site
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from grader.wire.containers import PlainDecoder, PlainEncoder
from grader.wire.table import ObjectTable
from grader.worker import plain_probes
from grader.worker.absent import PlainModules
from grader.worker.importer import OwnModules

_MMAP_THRESHOLD = -3
"""`M_MMAP_THRESHOLD` of glibc's malloc.h: a block of so many bytes or more is mapped on its own."""

_MAPPED_BYTES = 8 << 10
"""Smaller, and rounding to pages would add more than a half; larger, and small results between large temporaries could
keep the memory of these."""

_C_LIBRARY: Any = ctypes.CDLL(None) if sys.platform == "linux" else None


class Libraries:
    """The standard library alone, for exercises whose task takes all others away (`without` in exercise.yaml).

    Attributes:
        probes: the built-in probes, as they are before student code is loaded.
    """

    def __init__(self) -> None:
        self.probes: Any = types.SimpleNamespace(**vars(plain_probes))

    # -- of the server, before any worker is forked -------------------------------------------------------------------

    def check_machine(self) -> None:
        """Do nothing: a forked child can run the standard library on any machine.

        With PyTorch, exit if a forked child cannot run an operation.
        """

    def preload(self) -> None:
        """Import what student code needs, once and not in each worker."""
        for name in ("copy", "dataclasses", "decimal", "fractions", "heapq", "itertools", "math", "random", "typing"):
            importlib.import_module(name)
        # This interpreter starts without the module that looks for installed packages, which also gives these names.
        site.setquit()
        site.sethelper()

    def preload_devices(self) -> None:
        """Do nothing: without PyTorch, a worker has no simulated accelerator.

        With PyTorch, import the modules of one that are quick to import.
        """

    def prepare_devices(self) -> None:
        """Do nothing: without PyTorch, a worker has no simulated accelerator.

        With PyTorch, import all modules that one needs.
        """

    # -- of a worker --------------------------------------------------------------------------------------------------

    def encoder(self, table: ObjectTable, child_of_object: Callable[[Any], list[Any]]) -> PlainEncoder:
        """Return an encoder for a reply of this worker.

        Args:
            table: the objects of the request, which the reply refers to.
            child_of_object: a function that gets an object that is not a value, and returns the list that replaces this
                object.
        """
        return PlainEncoder(table, child_of_object, answers=True)

    def decoder(self, table: ObjectTable, object_of_child: Callable[..., Any]) -> PlainDecoder:
        """Return a decoder for a request to this worker.

        Args:
            table: the table that gets the objects of the request.
            object_of_child: a function that finds the object of this process that a request names.
        """
        return PlainDecoder(table, object_of_child)

    def begin_request(self, *, timed: bool) -> None:
        """Prepare this worker for a request; do nothing without PyTorch.

        Args:
            timed: True if the request measures time, so that only student code may take time in it.
        """

    def return_freed_memory(self) -> None:
        """Let malloc return the memory of each larger block to the system as soon as the block is freed.

        Then the memory of this process follows what is in use. Otherwise it depends on which holes the heap happens to
        have: small tensors that are kept between large temporary ones make a heap of 65 MB in some processes, and of 23
        in others, where 4 are in use. It costs time, so it is for requests whose memory is measured. Do nothing where
        the C library is not glibc.
        """
        if hasattr(_C_LIBRARY, "mallopt") and hasattr(_C_LIBRARY, "malloc_trim"):
            _C_LIBRARY.mallopt(_MMAP_THRESHOLD, _MAPPED_BYTES)
            # A large block would still be taken from the free end of the heap.
            _C_LIBRARY.malloc_trim(0)

    def modules(self, folder: str, files: Mapping[str, bytes], without: Sequence[str]) -> OwnModules:
        """Return an importer of the modules of a submission.

        Args:
            folder: the folder of its files.
            files: the contents of its Python files, by path.
            without: the packages that the exercise is solved without.
        """
        return PlainModules(folder, files, without)

    def set_device_mode(self, mode: str) -> None:
        """Set which accelerator PyTorch finds, for the life of this process.

        See `surroundings.set_device_mode`.

        Raises:
            ValueError: the mode is not "none", which is the only one without PyTorch.
        """
        if mode != "none":
            raise ValueError(f"there is no device {mode!r} without PyTorch")

    def record_import(self) -> None:
        """Do nothing: without PyTorch, `seed` restores no state that an import may have changed."""

    def seed(self, number: int) -> None:
        """Seed all generators that student code draws from."""
        random.seed(number)

    def write_inputs(self, blocks: Sequence[Any], data: memoryview) -> None:
        """Write the elements of new inputs into the arguments of the timed calls.

        Do nothing without PyTorch.

        Args:
            blocks: the memory of the arguments, in the order in which their elements follow in `data`.
            data: the new elements, block after block, each padded as in a message.
        """
