#!/usr/bin/env bash
# PyTorch: the imaginary part of a conjugate, given over by DLPack.
#
# Guess before the run: `np.from_dlpack` of it raises, as `.numpy()` does, and as DLPack does for the conjugate itself.
# Seen with numpy 2.4.6 and torch 2.13.0 (CPU), and the same with torch 2.14.1, where z is [1+2j, 3-4j]:
#   z.conj().imag                       is [-2, 4]
#   z.conj().imag.numpy()               RuntimeError: Can't call numpy() on Tensor that has negative bit set.
#   np.from_dlpack(z.conj())            BufferError: Can't export tensors with the conjugate bit set
#   np.from_dlpack(z.conj().imag)       [2, -4]: each sign is wrong
#   torch.from_dlpack(z.conj().imag)    the same
# The imaginary part of a conjugate is a view of the memory with a negative bit. DLPack's export looks at the conjugate
# bit and not at this one, so what comes out has the wrong sign, and nobody is told. What helps: `resolve_neg()`.
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

z = torch.tensor([1 + 2j, 3 - 4j])
part = z.conj().imag
calls = {
    "part": lambda: part,
    "numpy": lambda: part.numpy(),
    "conjugate, from_dlpack": lambda: np.from_dlpack(z.conj()),
    "np.from_dlpack": lambda: np.from_dlpack(part),
    "torch.from_dlpack": lambda: torch.from_dlpack(part),
    "resolved": lambda: np.from_dlpack(part.resolve_neg()),
}
seen = {}
for what, call in calls.items():
    try:
        seen[what] = call().tolist()
    except (RuntimeError, BufferError) as error:
        seen[what] = type(error).__name__
print(f"numpy {np.__version__}, torch {torch.__version__}: {seen}")
expected = [[-2.0, 4.0], "RuntimeError", "BufferError", [2.0, -4.0], [2.0, -4.0], [-2.0, 4.0]]
sys.exit(0 if [*seen.values()] == expected else "the behaviour has changed")
PY
