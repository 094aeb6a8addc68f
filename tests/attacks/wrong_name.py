r"""Has the function under another name.

---
exercise: double
verdicts: {small: error, random: error, dtype: error}
message: your double\.py has no `double`; did you mean `doubel`
"""


def doubel(x):
    return 2 * x


def halve(x):
    return x / 2
