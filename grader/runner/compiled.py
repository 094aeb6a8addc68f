"""Bytecode of what our processes import: where an installer left none, it is written once.

Python keeps the bytecode of a module beside it, and pip compiles all that it installs. uv compiles nothing, and our own
processes write nothing (`-B`), as student code runs in some of them: without this, PyTorch was compiled anew at every
run, twice as long as its import takes. The process that compiles imports modules of the installation alone, nothing of
a course and no student code. What workers may write stays as it is.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from importlib import util
from pathlib import Path

from grader.sandbox.process import clean_environment, isolated_command

_FORKING = ("grader.sandbox.zygote", "grader.check_process.forked", "grader.worker.server")
_IMPORTED = (
    *("numpy", "numpy.random", "pytest", "pytest_timeout", "grader.check_process.start", "grader.worker.serve"),
    *("grader.worker.with_torch", *(_FORKING if sys.platform == "linux" else ())),
    *("torch.distributed.tensor", "torch.utils.file_baton", "torch.utils.benchmark"),
)
"""What check processes, workers and the simulated device import, with all that these import themselves.

The last one is imported by none of the others: where its bytecode is, that of the others was written before.
"""


def is_compiled() -> bool:
    """Return whether `compile_once` has nothing to do, without importing PyTorch.

    It is False if bytecode of our imports is missing and can be written. It is True also if PyTorch is not installed,
    or if Python keeps bytecode elsewhere or writes none.
    """
    spec = util.find_spec("torch")
    if spec is None or not spec.submodule_search_locations or sys.dont_write_bytecode or sys.pycache_prefix:
        return True
    last = Path(spec.submodule_search_locations[0], *_IMPORTED[-1].split(".")[1:], "__init__.py")
    return Path(util.cache_from_source(str(last))).exists() or not os.access(last.parent, os.W_OK)


def compile_once() -> None:
    """Write the bytecode of all modules that our processes import.

    Nothing is done if it is written already. A module that cannot be imported is reported by the lane that needs it.
    """
    if not is_compiled():
        command = [word for word in isolated_command("grader.runner.compiled") if word != "-B"]
        subprocess.run(command, env=clean_environment(), stdin=subprocess.DEVNULL, capture_output=True, check=False)


def main() -> None:
    """Import each module of `_IMPORTED`, so that Python writes its bytecode."""
    for name in _IMPORTED:
        importlib.import_module(name)


if __name__ == "__main__":
    main()
