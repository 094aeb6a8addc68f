#!/usr/bin/env bash
# pytest, NumPy and PyTorch: `pytest.approx` and a number of a small dtype.
#
# Guess before the run: `value == approx(expected, abs=tolerance)` is abs(value - expected) <= tolerance, of the numbers
# that the two are; 99 and 101 are equally far from 100.
# Seen with pytest 9.2.0, numpy 2.4.6 and torch 2.13.0, and the same with torch 2.14.1:
#   tensor(99, dtype=uint8) == approx(100, abs=2)       -> True
#   tensor(101, dtype=uint8) == approx(100, abs=2)      -> False, with a RuntimeWarning: 100 - 101 is 255
#   np.int8(-128) == approx(127, abs=2)                 -> True: 127 - -128 is -1
#   tensor(2048.).half() == approx(2049)                -> True: 2049 as float16 is 2048
#   tensor(0.1) == approx(0.1, rel=1e-12, abs=0)        -> True; it is 0.10000000149
#   tensor(inf).half() == approx(70000)                 -> True: 70000 as float16 is inf
#   tensor([1.0, inf]) == approx([1.0, 1e39])           -> True
#   with `.item()`, or `approx(tensor)`, or NumPy 1.26  -> each comes out as the numbers say
# A tensor becomes an array there, and its elements stay NumPy scalars. Since NumPy 2, a Python number beside a NumPy
# scalar takes the scalar's dtype, so the expected number is rounded, or the difference wraps around, before the
# tolerance is looked at. A test of a uint8 image fails for half of the right answers, and one of a half precision
# result passes for an overflow.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/look.py" <<'PY'
import math
import sys
import warnings

import numpy as np
import pytest
import torch
from pytest import approx

warnings.simplefilter("ignore")
high, low = torch.tensor(101, dtype=torch.uint8), torch.tensor(99, dtype=torch.uint8)
half, overflow = torch.tensor(2048.0).half(), torch.tensor(math.inf).half()
seen = {
    "uint8 99, 100 +- 2": low == approx(100, abs=2),
    "uint8 101, 100 +- 2": high == approx(100, abs=2),
    "[uint8 101], [100] +- 2": torch.stack([high]) == approx([100], abs=2),
    "int8 -128, 127 +- 2": np.int8(-128) == approx(127, abs=2),
    "float16 2048, 2049": half == approx(2049),
    "float32 0.1, 0.1 +- 1e-13": torch.tensor(0.1) == approx(0.1, rel=1e-12, abs=0),
    "float16 inf, 70000": overflow == approx(70000),
    "float32 [1, inf], [1, 1e39]": torch.tensor([1.0, math.inf]) == approx([1.0, 1e39]),
    "uint8 101 as a Python number": high.item() == approx(100, abs=2),
    "float16 2048 as a Python number": half.item() == approx(2049),
    "float16 2048, approx of a tensor": half == approx(torch.tensor(2049.0)),
}
print(f"pytest {pytest.__version__}, numpy {np.__version__}, torch {torch.__version__}")
for what, value in seen.items():
    print(f"  {what}: {value}")
if np.__version__.startswith("1."):
    expected = [True, True, True, False, False, False, False, False, True, False, False]
else:
    expected = [True, False, False, True, True, True, True, True, True, False, False]
sys.exit(0 if [*seen.values()] == expected else "the behaviour has changed")
PY
python3 -m venv "$folder/venv"
for numpy in 2.4.6 1.26.4; do
    # shellcheck disable=SC2086
    "$folder/venv/bin/pip" install --quiet ${PIP_ARGS:-} torch==2.13.0 "numpy==$numpy" pytest==9.2.0
    "$folder/venv/bin/python" "$folder/look.py"
done
