r"""Hands in a module that nobody may read.

---
exercise: double
verdicts: {all: error}
message: double\.py cannot be read
odd: {double.py: unreadable}
unless: root
"""
