r"""Hands in a socket in place of its module.

---
exercise: double
verdicts: {all: error}
message: double\.py .*not a regular file
odd: {double.py: socket}
"""
