"""How names of files end from which a submission is read: Python, notebooks and archives. All in lower case."""

from __future__ import annotations

PYTHON = (".py", ".py.txt")
"""The second is what some browsers and platforms make of the first."""

NOTEBOOK = ".ipynb"
ZIP = ".zip"
ARCHIVES = (ZIP, ".tar", ".tar.gz", ".tgz")

HANDED_IN = (*PYTHON, NOTEBOOK, *ARCHIVES)
