r"""Imports PyTorch where nothing refuses it: by its name, by importlib, past the finder that refuses it.

---
exercise: steps
verdicts: {small: crashed|timed_out, alone: failed|timed_out|crashed, random: crashed|timed_out}
"""

import importlib
import sys


def tensors():
    for way in (__import__, importlib.import_module, importlib.__import__):
        try:
            return way("tor" + "ch")
        except ImportError:
            continue
    sys.meta_path[:] = [each for each in sys.meta_path if isinstance(each, type)]
    sys.path_importer_cache.clear()
    return importlib.import_module("torch")


def steps(shape):
    return tensors().empty(shape).stride()
