r"""Writes one file that is larger than the exercise allows.

---
exercise: once
verdicts: {more: over_limit}
message: file
"""


def more(x):
    with open("large", "wb") as file:
        for _ in range(8):
            file.write(bytes(1 << 20))
    return x + 1


def less(x):
    return x - 1
