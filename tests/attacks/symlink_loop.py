r"""Hands in a link to itself.

---
exercise: double
verdicts: {all: error}
message: double\.py
links: {double.py: double.py, 01_wall: 01_wall}
"""
