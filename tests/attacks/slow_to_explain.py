r"""Raises from many lines of a long file, so that it takes long to tell where.

---
exercise: double
verdicts: {small: crashed, random: crashed, dtype: crashed}
message: your `double` raised ZeroDivisionError
repeat: {LINES: ["#\n", 400000]}
"""

deep = [lambda x: 1 // 0]
for _ in range(30):
    deep.append(lambda x, inner=deep[-1]: inner(x))


def double(x):
    return deep[-1](x)


def halve(x):
    return x / 2


LINES  # becomes many of them
