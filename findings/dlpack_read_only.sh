#!/usr/bin/env bash
# NumPy and PyTorch: an array that nobody may write to, given over by DLPack.
#
# Guess before the run: `torch.from_dlpack` of a read-only array raises, or warns as `torch.from_numpy` does.
# Seen with numpy 2.4.6 and torch 2.13.0 (CPU), and the same with torch 2.14.1:
#   torch.from_numpy(array)   warns that a write is undefined behaviour
#   torch.from_dlpack(array)  says nothing; a write to the tensor changes the array
# NumPy marks the memory as read-only in what it hands over since DLPack has a flag for it, and refuses to hand it over
# without the flag. PyTorch does not look at the flag. Marking an array as read-only protects it from no such consumer.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
# shellcheck disable=SC2086
"$folder/venv/bin/pip" install --quiet ${PIP_ARGS:-} torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" - <<'PY'
import sys
import warnings

import numpy as np
import torch

array = np.zeros(3)
array.flags.writeable = False
told = {}
for name in ("from_numpy", "from_dlpack"):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tensor = getattr(torch, name)(array)
    told[name] = len(caught)
tensor[0] = 7  # of from_dlpack
try:
    array.__dlpack__()
    plain = "given"
except BufferError:
    plain = "refused"
seen = {"warnings": told, "array": array.tolist(), "writeable": array.flags.writeable, "without the flag": plain}
print(f"numpy {np.__version__}, torch {torch.__version__}: {seen}")
expected = {
    "warnings": {"from_numpy": 1, "from_dlpack": 0},
    "array": [7.0, 0.0, 0.0],
    "writeable": False,
    "without the flag": "refused",
}
sys.exit(0 if seen == expected else "the behaviour has changed")
PY
