r"""Replaces what the worker itself was made of: modules of the grader, torch and json.

---
exercise: double
verdicts: {all: passed|crashed|failed}
"""

import sys
import types

for name in [name for name in sys.modules if name.split(".")[0] in ("grader", "json", "torch", "numpy", "struct")]:
    sys.modules[name] = types.ModuleType(name)


def double(x):
    return 2 * x


def halve(x):
    return x / 2
