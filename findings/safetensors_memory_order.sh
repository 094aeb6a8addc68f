#!/usr/bin/env bash
# safetensors: arrays of NumPy whose memory is in another order than their elements, and conjugated tensors.
#
# Guess before the run: what `load` returns equals what was saved, or `save` raises, as it does for a transposed tensor
# of PyTorch ("You are trying to save a non contiguous tensor").
# Seen with safetensors 0.8.0, numpy 2.4.6 and torch 2.13.0 (CPU), where a is [[0, 1, 2], [3, 4, 5]] and z is [1+2j]:
#   safetensors.numpy, a.T                  -> [[0, 1], [2, 3], [4, 5]]: a's memory in the shape of a.T
#   the same, np.asfortranarray(a)          -> [[0, 3, 1], [4, 2, 5]]
#   the same, a[:, ::2]                     -> [[0, 1], [2, 3]]
#   all three with safetensors 0.7.0        -> right
#   safetensors.torch, a.T                  -> ValueError, in both versions
#   safetensors.torch, z.conj()             -> [1+2j], not conjugated, in both versions
# Nothing is raised, and the file is a valid one. Some functions of NumPy and scikit-learn return such arrays, PCA for
# example. (Issue 825 of safetensors.) What helps: `np.ascontiguousarray` before `save`, and `resolve_conj()`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
cat > "$folder/look.py" <<'PY'
import sys
import warnings

warnings.simplefilter("ignore")

import numpy as np
import safetensors
import safetensors.numpy
import safetensors.torch
import torch

a = np.arange(6).reshape(2, 3)
arrays = {"a.T": a.T, "np.asfortranarray(a)": np.asfortranarray(a), "a[:, ::2]": a[:, ::2], "a": a}
seen = {}
for what, array in arrays.items():
    seen[what] = safetensors.numpy.load(safetensors.numpy.save({"x": array}))["x"].tolist()
try:
    safetensors.torch.save({"x": torch.from_numpy(a).T})
    seen["tensor.T"] = "saved"
except ValueError as error:
    seen["tensor.T"] = "refused" if "non contiguous" in str(error) else str(error)
z = torch.tensor([1 + 2j])
seen["z.conj()"] = safetensors.torch.load(safetensors.torch.save({"x": z.conj()}))["x"].tolist()
print(f"safetensors {safetensors.__version__}, numpy {np.__version__}, torch {torch.__version__}")
for what, value in seen.items():
    print(f"  {what}: {value}")
if safetensors.__version__ == "0.8.0":
    expected = [[[0, 1], [2, 3], [4, 5]], [[0, 3, 1], [4, 2, 5]], [[0, 1], [2, 3]]]
else:
    expected = [array.tolist() for array in list(arrays.values())[:3]]
expected += [a.tolist(), "refused", [1 + 2j]]
sys.exit(0 if [*seen.values()] == expected else "the behaviour has changed")
PY
# shellcheck disable=SC2086
"$folder/venv/bin/pip" install --quiet ${PIP_ARGS:-} torch==2.13.0 numpy==2.4.6 packaging==26.4
for version in 0.7.0 0.8.0; do
    # shellcheck disable=SC2086
    "$folder/venv/bin/pip" install --quiet ${PIP_ARGS:-} "safetensors==$version"
    "$folder/venv/bin/python" "$folder/look.py"
done
