r"""Nests calls as deep as the tokenizer lets it, again and again.

---
exercise: double
repeat: {ROWS: ["f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(0))))))))))))))))))))))))))))))\n", 1500]}
"""


def f(x):
    return x


ROWS  # becomes many of them


def double(x):
    return 2 * x


def halve(x):
    return x / 2
