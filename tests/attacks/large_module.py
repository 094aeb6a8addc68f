r"""Hands in a module of many megabytes.

---
exercise: double
verdicts: {all: skipped}
message: double\.py .*larger than
large: {double.py: 20000000}
"""
