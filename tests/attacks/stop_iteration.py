r"""Raises what ends loops and generators, in whatever the grader calls it from.

---
exercise: double
verdicts: {all: crashed}
"""


def double(x):
    raise StopIteration(x)


def halve(x):
    raise StopAsyncIteration if x.dim() == 1 else RuntimeError("generator raised StopIteration")
