r"""Has a zero byte in its source.

---
exercise: double
verdicts: {all: error}
message: your double\.py does not load.*null bytes
replace: {NUL: "\0"}
"""

NAME = "NUL"


def double(x):
    return 2 * x


def halve(x):
    return x / 2
