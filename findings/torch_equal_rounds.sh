#!/usr/bin/env bash
# PyTorch: exact comparisons of integers with floating point numbers.
#
# Guess before the run: `torch.equal` of two dtypes raises or returns False, and `assert_close` with rtol=0 and atol=0
# fails for two different numbers; `check_dtype=False` says only that the dtypes may differ.
# Seen with torch 2.13.0, and the same with 2.10.0 and 2.14.1:
#   tensor([16777217]) == tensor([16777216.])              -> tensor([True])
#   torch.equal(the same two)                              -> True
#   torch.testing.assert_close(..., rtol=0, atol=0, check_dtype=False)   passes
#   tensor([70000]) and tensor([inf], dtype=torch.float16)              -> the same three
# All three first convert both sides to the promoted dtype, and that is the floating point one, whatever the integers
# need: 2**24 + 1 is rounded, 70000 becomes infinite. NumPy promotes int64 and float32 to float64, and calls them
# different. A test that compares numbers with a tolerance of zero, and leaves the dtype to another test, is not exact:
# compare in float64, or check the dtype first.
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


def passes(actual: torch.Tensor, expected: torch.Tensor) -> bool:
    """Return whether the exact comparison of values passes."""
    try:
        torch.testing.assert_close(actual, expected, rtol=0, atol=0, check_dtype=False)
    except AssertionError:
        return False
    return True


pairs = {
    "2**24 + 1, float32": (torch.tensor([16777217]), torch.tensor([16777216.0])),
    "70000, float16": (torch.tensor([70000]), torch.tensor([torch.inf], dtype=torch.float16)),
    "70000, float32": (torch.tensor([70000]), torch.tensor([torch.inf])),
}
print(f"numpy {np.__version__}, torch {torch.__version__}")
seen = {}
for name, (whole, real) in pairs.items():
    in_numpy = bool((whole.numpy() == real.numpy())[0])
    seen[name] = [bool(whole == real), torch.equal(whole, real), passes(whole, real), in_numpy]
    print(f"{name}: ==, equal, assert_close, NumPy's == : {seen[name]}")
expected = {
    "2**24 + 1, float32": [True, True, True, False],
    "70000, float16": [True, True, True, False],
    "70000, float32": [False, False, False, False],
}
sys.exit(0 if seen == expected else "the behaviour has changed")
PY
