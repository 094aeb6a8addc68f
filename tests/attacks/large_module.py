r"""Hands in a module of many megabytes.

---
exercise: double
verdicts: {all: error}
message: double\.py .*larger than
large: {double.py: 20000000}
"""
