r"""Has a syntax error in one function, so that the whole file does not load.

---
exercise: double
verdicts: {all: error}
message: SyntaxError[^\0]*double\.py, line \d+
replace: {"return 2 * x": "return 2 * * x"}
"""


def double(x):
    return 2 * x


def halve(x):
    return x / 2
