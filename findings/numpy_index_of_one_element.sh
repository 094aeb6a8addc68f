#!/usr/bin/env bash
# NumPy and PyTorch: an index that is a tensor of one element.
#
# Guess before the run: an array of one element, as for a list or an array of one index.
# Seen with numpy 2.4.6 and torch 2.13.0:
#   arange(3)[tensor([1])]    -> a scalar, shape ()
#   arange(3)[tensor([1, 2])] -> an array, shape (2,)
#   arange(3)[array([1])]     -> an array, shape (1,)
# A tensor of one element has __index__, and NumPy tries that before it asks for an array. So code that selects rows of an
# array by the tensor that `nonzero`, `topk` or a sampler returned loses a dim exactly when one index is left.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
# shellcheck disable=SC2086
"$folder/venv/bin/pip" install --quiet ${PIP_ARGS:-} torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" - <<'PY'
import sys

import numpy as np
import torch

rows = np.arange(6).reshape(3, 2)
seen = {
    "tensor of one": np.arange(3)[torch.tensor([1])].shape,
    "tensor of two": np.arange(3)[torch.tensor([1, 2])].shape,
    "array of one": np.arange(3)[np.array([1])].shape,
    "rows, tensor of one": rows[torch.tensor([1])].shape,
    "rows, tensor of two": rows[torch.tensor([1, 2])].shape,
}
print(f"numpy {np.__version__}, torch {torch.__version__}")
for index, shape in seen.items():
    print(f"{index}: shape {shape}")
expected = {
    "tensor of one": (),
    "tensor of two": (2,),
    "array of one": (1,),
    "rows, tensor of one": (2,),
    "rows, tensor of two": (2, 2),
}
sys.exit(0 if seen == expected else "the behaviour has changed")
PY
