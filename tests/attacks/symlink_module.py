r"""Hands in a link to the reference in place of its module.

---
exercise: double
verdicts: {all: error}
message: double\.py
links: {double.py: "{course}/solutions/01_wall/double/double.py"}
"""
