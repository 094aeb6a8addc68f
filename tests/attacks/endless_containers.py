r"""Returns containers that make their parts up while they are looked at, and never end.

---
exercise: once
verdicts: {more: failed|skipped|crashed|timed_out|over_limit}
"""


class Endless(dict):
    def items(self):
        while True:
            yield "a", self

    def __len__(self):
        return 1 << 62

    def __iter__(self):
        while True:
            yield "a"


class Row(list):
    def __iter__(self):
        while True:
            yield 1


def more(x):
    return [Endless(a=1), Row([1])]


def less(x):
    return x - 1
