r"""Writes file after file until the disk is full.

---
exercise: once
verdicts: {more: over_limit}
message: disk|file
level: full
"""


def more(x):
    for number in range(256):
        with open(f"wall_marker_{number}", "wb") as file:
            file.write(bytes(2 << 20))
    return x + 1


def less(x):
    return x - 1
