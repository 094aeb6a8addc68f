r"""Replaces builtins by what always agrees. It hurts itself only: even its honest function cannot answer then.

---
exercise: double
verdicts: {all: failed|crashed}
"""

import builtins

for name in ("isinstance", "issubclass", "all", "any", "hasattr", "callable"):
    setattr(builtins, name, lambda *args: True)
for name in ("max", "min", "abs", "len", "type"):
    setattr(builtins, name, lambda *args: 0)
builtins.AssertionError = builtins.Exception = KeyboardInterrupt
builtins.__import__ = lambda *args, **kwargs: None


def double(x):
    return 3 * x


def halve(x):
    return x / 2
