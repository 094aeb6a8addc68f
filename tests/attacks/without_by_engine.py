r"""Takes PyTorch from the engine's own modules, loaded or not, and from whatever holds a module.

---
exercise: steps
verdicts: {small: crashed|timed_out, alone: failed|timed_out|crashed, random: crashed|timed_out}
"""

import functools
import gc
import importlib
import pkgutil
import sys

import grader


@functools.cache
def found():
    for each in modules():
        if hasattr(vars(each).get("torch"), "empty"):
            return vars(each)["torch"]
    return importlib.import_module("torch")


def modules():
    yield from (each for each in gc.get_objects() if isinstance(each, type(sys)))
    for found in pkgutil.walk_packages(grader.__path__, "grader.", onerror=lambda name: None):
        try:
            yield importlib.import_module(found.name)
        except ImportError:
            continue


def steps(shape):
    return found().empty(shape).stride()
