"""Python runs this in each process that a program with a simulated CUDA starts: the process gets the same device.

The device is made as soon as the process imports torch, and a process that does not import it pays nothing.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
from typing import Any

_PACKAGE = "grader.accelerator"
_HERE = os.path.dirname(os.path.abspath(__file__))


class _SimulateOnTorchImport:
    """An import finder that starts to simulate the parent's device as soon as torch is loaded."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Return the import spec of torch; None for any other module.

        The loader of this spec simulates the device after torch is loaded.
        """
        del path, target
        # The launcher makes a device as its own arguments say.
        if name != "torch" or "grader.accelerator.tools.launcher" in sys.modules:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        load: Any = spec.loader.exec_module

        def load_with_device(module: Any) -> None:
            load(module)
            root = os.path.abspath(os.path.join(_HERE, *[os.pardir] * len(f"{_PACKAGE}.tools.startup".split("."))))
            if importlib.util.find_spec(_PACKAGE.partition(".")[0]) is None:
                sys.path.append(root)
            importlib.import_module("grader.accelerator.tools.child_processes").simulate_like_parent()

        spec.loader.exec_module = load_with_device  # type: ignore[method-assign]
        return spec


def _run_shadowed_sitecustomize() -> None:
    """Run the next `sitecustomize` on the path, which this file shadows."""
    others = [path for path in sys.path if os.path.abspath(path) != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


if os.environ.get("GRADER_ACCELERATOR"):
    sys.meta_path.insert(0, _SimulateOnTorchImport())
_run_shadowed_sitecustomize()
