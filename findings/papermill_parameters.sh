#!/usr/bin/env bash
# papermill: what parameters are in the notebook that gets them.
#
# Guess before the run: equal to what was passed, or an error; on the command line a number is what JSON calls a number.
# Seen with papermill 2.7.0 (`--prepare-only`, which writes the notebook and does not run it):
#   parameters={"shape": (2, 3)}              -> shape is "(2, 3)", a text of 6 characters
#   parameters={"sizes": {"a": (1,)}}         -> sizes is {"a": "(1,)"}
#   parameters={"shape": [2, 3]}              -> [2, 3]
#   parameters={"n": np.float64(0.5)}         -> 0.5
#   parameters={"n": np.float32(0.5)}         -> TypeError: not JSON serializable; also np.int64(3) and np.bool_(False)
#   -p student 2024_01                        -> 202401
#   -p student 0123                           -> 123
#   -p student Nan, -p student Infinity       -> float("nan"), float("inf")
#   -r student 2024_01                        -> "2024_01"
# Python's `int` and `float` decide what is a number, and a type that papermill does not know is written as its `str`.
# (Issue 586 of papermill asks for tuples.) What helps: -r for whatever is a name, and lists in place of tuples.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
# shellcheck disable=SC2086
"$folder/venv/bin/pip" install --quiet ${PIP_ARGS:-} papermill==2.7.0 nbformat==5.11.1 ipykernel==7.4.0 numpy==2.4.6
cat > "$folder/look.py" <<'PY'
import importlib.metadata
import subprocess
import sys

import nbformat
import numpy as np
import papermill
from nbformat.v4 import new_code_cell, new_notebook

kernel = {"name": "python3", "language": "python", "display_name": "Python 3"}
cell = new_code_cell("value = None", metadata={"tags": ["parameters"]})
nbformat.write(new_notebook(cells=[cell], metadata={"kernelspec": kernel}), "in.ipynb")


def injected():
    """Return the value that the injected cell of the new notebook gives the parameter."""
    names = {}
    exec(nbformat.read("out.ipynb", as_version=4).cells[1].source, names)
    return names["value"]


def passed(value):
    try:
        papermill.execute_notebook("in.ipynb", "out.ipynb", {"value": value}, prepare_only=True, progress_bar=False)
    except TypeError as error:
        return "refused" if "not JSON serializable" in str(error) else str(error)
    return injected()


def typed(option, text):
    command = [sys.executable, "-m", "papermill", "in.ipynb", "out.ipynb", "--prepare-only", option, "value", text]
    subprocess.run(command, check=True, capture_output=True)
    return injected()


values = [(2, 3), {"a": (1,)}, [2, 3], np.float64(0.5), np.float32(0.5), np.int64(3), np.bool_(False)]
seen = {repr(value): passed(value) for value in values}
for option, text in (("-p", "2024_01"), ("-p", "0123"), ("-p", "Nan"), ("-p", "Infinity"), ("-r", "2024_01")):
    seen[f"{option} {text}"] = typed(option, text)
print(f"papermill {importlib.metadata.version('papermill')}")
for what, value in seen.items():
    print(f"  {what}: {value!r}")
expected = ["(2, 3)", {"a": "(1,)"}, [2, 3], 0.5, "refused", "refused", "refused"]
expected += [202401, 123, float("nan"), float("inf"), "2024_01"]
sys.exit(0 if [*map(repr, seen.values())] == [*map(repr, expected)] else "the behaviour has changed")
PY
cd "$folder" && venv/bin/python -W ignore look.py
