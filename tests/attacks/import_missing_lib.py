r"""Imports a library that is not here.

---
exercise: double
verdicts: {all: error}
message: No module named 'no_such_library'
"""

import no_such_library

print(no_such_library)


def double(x):
    return 2 * x


def halve(x):
    return x / 2
