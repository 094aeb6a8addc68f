r"""Raises exceptions with endless text, causes and notes.

---
exercise: double
verdicts: {small: crashed, random: crashed, dtype: crashed}
message: your `double` raised
"""


def double(x):
    error = ValueError("x" * 50_000_000)
    for _ in range(5000):
        error.add_note("note" * 100)
        error.__cause__, error = None, ValueError(error.args[0]).with_traceback(None)
    raise error


def halve(x):
    return x / 2
