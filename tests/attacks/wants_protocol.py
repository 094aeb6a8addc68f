r"""Has objects with odd manners where functions are asked: classes, partials, callables that lie about themselves.

---
exercise: double
verdicts: {halves: failed|skipped|crashed, halves_random: failed|skipped|crashed}
"""

import functools


class Halve:
    def __new__(cls, *args):
        return super().__new__(cls)

    def __getattr__(self, name):
        raise SystemExit(name)

    def __repr__(self):
        raise SystemExit


def multiply(factor, x):
    return factor * x


double = functools.partial(multiply, 2)
halve = Halve
