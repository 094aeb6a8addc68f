r"""Hands in a folder that is a link to the folder of references.

---
exercise: double
verdicts: {all: error}
message: double\.py
odd: {double.py: missing}
links: {01_wall: "{course}/solutions/01_wall"}
"""
