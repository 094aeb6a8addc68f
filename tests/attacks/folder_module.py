r"""Hands in a folder with the name of its module.

---
exercise: double
verdicts: {all: error}
message: double\.py .*not a regular file
odd: {double.py: folder}
"""
