r"""Has functions with the names of the grader's own, so that the wrong ones might be called.

---
exercise: double
"""


def same(yours, asked, *args, **kwargs):
    print("BREACH: its own comparison was called")


same_values = same_dtype = unchanged = require = check = reference = student = rng = same


def __getattr__(name):
    print("BREACH: asked for", name)
    return same


def double(x):
    return 2 * x


def halve(x):
    return x / 2
