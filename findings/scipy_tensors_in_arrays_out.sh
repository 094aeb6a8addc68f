#!/usr/bin/env bash
# SciPy's array API mode with PyTorch: what comes back for a tensor.
#
# Guess before the run: with SCIPY_ARRAY_API=1 a tensor gives a tensor, or a sentence that says it is not supported.
# Seen with scipy 1.17.1, torch 2.13.0 (CPU), numpy 2.4.6:
#   special.softmax, integrate.trapezoid, signal.lfilter      -> Tensor
#   linalg.inv, integrate.simpson, stats.norm.pdf             -> arrays and scalars of NumPy, without a word
#   signal.sosfiltfilt                                        -> ValueError about negative strides, from inside
# Two functions of one module differ (trapezoid and simpson), so a pipeline leaves PyTorch, its device and its gradients
# in the middle. What helps: look each function up in SciPy's table of backends, and check the type of the result.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
# shellcheck disable=SC2086
"$folder/venv/bin/pip" install --quiet ${PIP_ARGS:-} torch==2.13.0 numpy==2.4.6 scipy==1.17.1
SCIPY_ARRAY_API=1 "$folder/venv/bin/python" - <<'PY'
import sys

import numpy
import scipy
import torch
from scipy import integrate, linalg, signal, special, stats

x = torch.tensor([3.0, 1.0, 2.0])
calls = {
    "special.softmax": lambda: special.softmax(x),
    "integrate.trapezoid": lambda: integrate.trapezoid(x),
    "signal.lfilter": lambda: signal.lfilter(torch.tensor([1.0]), torch.tensor([1.0, 0.5]), x),
    "linalg.inv": lambda: linalg.inv(torch.eye(2)),
    "integrate.simpson": lambda: integrate.simpson(x),
    "stats.norm.pdf": lambda: stats.norm.pdf(x),
    "signal.sosfiltfilt": lambda: signal.sosfiltfilt(torch.tensor([[1.0, 0, 0, 1.0, 0, 0]]), torch.randn(40)),
}
seen = {}
for name, call in calls.items():
    try:
        seen[name] = type(call()).__name__
    except ValueError as error:
        seen[name] = "ValueError: negative strides" if "negative" in str(error) else str(error)
print(f"scipy {scipy.__version__}, torch {torch.__version__}, numpy {numpy.__version__}")
for name, result in seen.items():
    print(f"{name}: {result}")
expected = {
    "special.softmax": "Tensor",
    "integrate.trapezoid": "Tensor",
    "signal.lfilter": "Tensor",
    "linalg.inv": "ndarray",
    "integrate.simpson": "float32",
    "stats.norm.pdf": "ndarray",
    "signal.sosfiltfilt": "ValueError: negative strides",
}
sys.exit(0 if seen == expected else "the behaviour has changed")
PY
