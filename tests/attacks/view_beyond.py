r"""Returns a view that reaches beyond what it may.

---
exercise: window
verdicts: {view: failed|skipped|crashed, view_random: failed|skipped|crashed}
"""


def window(x, start, size):
    return x.as_strided((size + 100,), (1,), start)


def add_into(a, b):
    return a.add_(b)
