r"""Is so deeply nested that Python's own parser gives up: it must be parsed in a worker only.

---
exercise: double
verdicts: {all: error|crashed|timed_out|over_limit}
message: your double\.py
repeat: {MINUS: ["-", 200000]}
"""

DEEP = MINUS + 1  # becomes many of them


def double(x):
    return 2 * x


def halve(x):
    return x / 2
