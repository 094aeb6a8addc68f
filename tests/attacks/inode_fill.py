r"""Makes empty files without end.

---
exercise: once
verdicts: {more: over_limit|timed_out}
message: disk|file|did not finish
level: full
"""


def more(x):
    for number in range(100_000):
        open(f"f{number}", "wb").close()
    return x + 1


def less(x):
    return x - 1
