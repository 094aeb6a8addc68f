"""Runs notebooks as a kernel does, and their `check`: `python kernel.py COURSE EXERCISE < notebooks.json`.

Reads a JSON object with lists of the sources of cells; writes one with what stands below the last cell of each, where
`check` is called.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output


def main() -> None:
    """Run each notebook in a session of its own."""
    course, exercise = sys.argv[1:]
    shell: Any = InteractiveShell.instance()
    shell.colors = "nocolor"
    sys.path.insert(0, "")  # as a kernel imports what lies beside its notebook
    shown = {}
    for name, cells in json.load(sys.stdin).items():
        shell.reset(new_session=True)
        with capture_output():
            shell.run_cell("import grader.notebook", store_history=True)
            for number, cell in enumerate(cells):
                shell.run_cell(cell, store_history=True, cell_id=f"cell-{number}")
        with capture_output() as captured:
            shell.run_cell(f"grader.notebook.check({exercise!r}, {course!r})", store_history=True)
        shown[name] = captured.stdout + captured.stderr
        shown[name] += "".join(output.data.get("text/plain", "") for output in captured.outputs)
    json.dump(shown, sys.stdout)


if __name__ == "__main__":
    main()
