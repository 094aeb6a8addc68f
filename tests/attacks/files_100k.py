r"""Hands in thousands of files, and more modules than anybody writes.

---
exercise: double
many: {"data/f{}.txt": 4000, "m{}.py": 1000}
"""


def double(x):
    return 2 * x


def halve(x):
    return x / 2
