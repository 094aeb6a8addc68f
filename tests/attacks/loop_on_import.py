r"""Loops for ever while it is imported.

---
exercise: once
verdicts: {all: timed_out}
message: your once\.py did not finish
"""

while True:
    pass
