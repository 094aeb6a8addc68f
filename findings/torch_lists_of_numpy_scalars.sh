#!/usr/bin/env bash
# NumPy and PyTorch: a list in which one item is a NumPy scalar, given to `torch.tensor`.
#
# Guess before the run: a NumPy scalar counts as the Python number that it equals, as `torch.tensor([np.int8(1), 300])`
# suggests, so [2, np.bool_(True)] is an int64 tensor, as [2, True] is; and np.uint64(2**63) becomes uint64, as for
# `torch.asarray`.
# Seen with numpy 2.4.6 and torch 2.13.0, and the same with torch 2.14.1:
#   torch.tensor([2, True])              -> tensor([2, 1])
#   torch.tensor([2, np.bool_(True)])    TypeError: 'numpy.bool' object cannot be interpreted as an integer
#   torch.tensor([2.5, np.bool_(True)])  -> tensor([2.5000, 1.0000])
#   torch.tensor(np.uint64(2**63))       TypeError: an integer is required
#   torch.asarray(np.uint64(2**63))      -> uint64
# The dtype is that of the whole list, and each item is converted to it by itself; a NumPy bool has no __index__ since
# NumPy 2 (with 1.26 it warns). So a list of results of comparisons and counts, such as [len(x), x.max() > 3], is taken
# or refused by the order and the kinds of its other items.
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

yes, large = np.bool_(True), np.uint64(2**63)
calls = {
    "tensor([2, True])": lambda: torch.tensor([2, True]),
    "tensor([2, bool_])": lambda: torch.tensor([2, yes]),
    "tensor([2.5, bool_])": lambda: torch.tensor([2.5, yes]),
    "tensor([bool_, bool_])": lambda: torch.tensor([yes, yes]),
    "tensor(uint64)": lambda: torch.tensor(large),
    "asarray(uint64)": lambda: torch.asarray(large),
}
print(f"numpy {np.__version__}, torch {torch.__version__}")
seen = {}
for name, call in calls.items():
    try:
        seen[name] = str(call().dtype)
    except TypeError as error:
        seen[name] = f"TypeError: {error}"
    print(f"{name}: {seen[name]}")
expected = {
    "tensor([2, True])": "torch.int64",
    "tensor([2, bool_])": "TypeError: 'numpy.bool' object cannot be interpreted as an integer",
    "tensor([2.5, bool_])": "torch.float32",
    "tensor([bool_, bool_])": "torch.bool",
    "tensor(uint64)": "TypeError: an integer is required",
    "asarray(uint64)": "torch.uint64",
}
sys.exit(0 if seen == expected else "the behaviour has changed")
PY
