r"""Raises from a depth of thousands of calls, in code without a file.

---
exercise: double
verdicts: {small: crashed, random: crashed, dtype: crashed}
"""

import sys

sys.setrecursionlimit(20_000)
exec(compile("def dive(n):\n    return dive(n - 1) if n else 1 // 0\n", "x" * 100_000, "exec"))


def double(x):
    return dive(15_000)  # made by exec


def halve(x):
    return x / 2
