r"""Has functions with the names of the grader's own, so that the wrong ones might be called.

---
exercise: double
"""


def assert_close(yours, asked, *args, **kwargs):
    print("BREACH: its own comparison was called")


assert_values = assert_dtype = assert_unchanged = assert_true = check = reference = student = rng = assert_close


def __getattr__(name):
    print("BREACH: asked for", name)
    return assert_close


def double(x):
    return 2 * x


def halve(x):
    return x / 2
