r"""Hands in a pipe that nobody writes to in place of its module.

---
exercise: double
verdicts: {all: error}
message: double\.py .*not a regular file
odd: {double.py: fifo, other.py: fifo}
"""
