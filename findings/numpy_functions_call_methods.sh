#!/usr/bin/env bash
# NumPy and PyTorch: NumPy's functions call a tensor's method of the same name, whatever that one does.
#
# Guess before the run: `np.size`, `np.nonzero` and `np.sum` of a tensor are those of the array with its values.
# Seen with numpy 2.4.6 and torch 2.13.0 (CPU), and the same with torch 2.14.1:
#   np.size(t)     is a bound method: an array's `size` is a number, a tensor's is a method
#   np.nonzero(t)  is one tensor with a row for each entry, not a tuple with an array for each dim
#   np.sum(t)      raises TypeError: Tensor.sum knows no `axis=None`
#   np.dot(t, t)   is NumPy's, np.squeeze(t) a tensor: it depends on the function which of the two comes back
# `if np.size(t):` is always true, and `rows, columns = np.nonzero(t)` unpacks rows where there happen to be two.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
# shellcheck disable=SC2086
"$folder/venv/bin/pip" install --quiet ${PIP_ARGS:-} torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -W ignore - <<'PY'
import sys

import numpy as np
import torch

eye = torch.eye(2)
try:
    np.sum(eye)
    total = "a number"
except TypeError:
    total = "TypeError"
rows, columns = np.nonzero(eye)
seen = {
    "size": type(np.size(eye)).__name__,
    "nonzero": [type(np.nonzero(eye)).__name__, rows.tolist(), columns.tolist()],
    "nonzero of the array": [index.tolist() for index in np.nonzero(eye.numpy())],
    "sum": total,
    "dot": type(np.dot(eye[0], eye[0])).__name__,
    "squeeze": type(np.squeeze(eye)).__name__,
}
print(f"numpy {np.__version__}, torch {torch.__version__}: {seen}")
expected = {
    "size": "builtin_function_or_method",
    "nonzero": ["Tensor", [0, 0], [1, 1]],
    "nonzero of the array": [[0, 1], [0, 1]],
    "sum": "TypeError",
    "dot": "float32",
    "squeeze": "Tensor",
}
sys.exit(0 if seen == expected else "the behaviour has changed")
PY
