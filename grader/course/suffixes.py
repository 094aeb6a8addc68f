"""How names of files end from which a submission is read: Python, notebooks and zips. All in lower case."""

from __future__ import annotations

PYTHON = (".py", ".py.txt")
"""The second is what some browsers and platforms make of the first."""

NOTEBOOK = ".ipynb"
ZIP = ".zip"

HANDED_IN = (*PYTHON, NOTEBOOK, ZIP)
