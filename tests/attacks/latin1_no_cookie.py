r"""Is not UTF-8, and does not say what it is.

---
exercise: double
verdicts: {all: error}
message: your double\.py does not load.*utf-8
replace: {E_ACUTE: "\xe9"}
"""

NAME = "E_ACUTE"


def double(x):
    return 2 * x


def halve(x):
    return x / 2
