r"""Is written for Python 2.

---
exercise: double
verdicts: {all: error}
message: SyntaxError
replace: {"print(2)": "print 2"}
"""

print(2)


def double(x):
    return 2 * x


def halve(x):
    return x / 2
