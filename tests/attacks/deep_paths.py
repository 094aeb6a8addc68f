r"""Hands in folders in folders, and names as long as they can be.

---
exercise: double
many: {"a/b/c/d/e/f/g/h/a/b/c/d/e/f/g/h/a/b/c/d/e/f/g/h/a/b/c/d/e/f/g/h/a/b/c/d/e/f/g/h/a/b/c/d/e/f/g/h/a/f{}.py": 2}
files: {long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_lon.py: "X = 1\n"}
"""


def double(x):
    return 2 * x


def halve(x):
    return x / 2
