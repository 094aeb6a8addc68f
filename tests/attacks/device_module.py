r"""Hands in a device that gives zeros without end in place of its module.

---
exercise: double
verdicts: {all: error}
message: double\.py .*not a regular file
odd: {double.py: device}
unless: unprivileged
"""
