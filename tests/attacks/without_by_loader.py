r"""Loads PyTorch's files by a loader of its own, from wherever there are some.

---
exercise: steps
verdicts: {small: crashed|timed_out, alone: failed|timed_out|crashed, random: crashed|timed_out}
level: reduced
"""

import functools
import os
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec, spec_from_file_location


@functools.cache
def tensors():
    spec = PathFinder.find_spec("torch", [os.path.join(top, "") for top, names, _ in os.walk("/") if "torch" in names])
    if spec is None:
        paths = [f"{top}/__init__.py" for top, _, files in os.walk("/") if top.endswith("/torch") and files]
        spec = spec_from_file_location("torch", paths[0]) if paths else None
    if spec is None:
        import torch

        return torch
    module = sys.modules["torch"] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def steps(shape):
    return tensors().empty(shape).stride()
