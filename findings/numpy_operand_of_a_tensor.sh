#!/usr/bin/env bash
# NumPy and PyTorch: operators between a tensor and an array.
#
# Guess before the run: `tensor += array` changes the tensor in place; `array + tensor` and `tensor + array` give a tensor.
# Seen with numpy 2.4.6 and torch 2.13.0 (CPU):
#   t += a  makes a new tensor of the array's dtype and binds the name to it; whoever else has the tensor sees no change
#   t + a   is a tensor of float64, with NumPy's DeprecationWarning about __array_wrap__
#   a + t   raises TypeError, and the message is about concatenation
#   a == t  is a tensor
# So a float32 parameter or buffer that is updated with `+=` by an array is not updated, and later operations are float64.
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

array = np.ones(3)
tensor = torch.zeros(3)
before = tensor
tensor += array
try:
    array + torch.ones(3)
    reverse = "no error"
except TypeError as error:
    reverse = str(error)
seen = {
    "same object after +=": tensor is before,
    "dtype after +=": str(tensor.dtype),
    "the tensor that others have": before.tolist(),
    "tensor + array": type(torch.ones(3) + array).__name__,
    "array + tensor raises about": "concatenation" if "Concatenation" in reverse else reverse,
    "array == tensor": type(array == torch.ones(3)).__name__,
}
print(f"numpy {np.__version__}, torch {torch.__version__}")
for what, value in seen.items():
    print(f"{what}: {value}")
expected = {
    "same object after +=": False,
    "dtype after +=": "torch.float64",
    "the tensor that others have": [0.0, 0.0, 0.0],
    "tensor + array": "Tensor",
    "array + tensor raises about": "concatenation",
    "array == tensor": "Tensor",
}
sys.exit(0 if seen == expected else "the behaviour has changed")
PY
