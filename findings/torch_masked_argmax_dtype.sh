#!/usr/bin/env bash
# PyTorch: torch.masked.argmax of numbers in half precision, or of small integers.
#
# Guess before the run: an int64 index, the one that torch.argmax has where nothing is masked.
# Seen with torch 2.13.0 (CPU), and the same with 2.14.1, where the largest of 5000 numbers is at 4097, nothing masked:
#   torch.argmax(x)                          4097, whatever the dtype of x
#   torch.masked.argmax(x, 0, mask=mask)     4096. for float16 and bfloat16, 1 for uint8; 4097. for float32
#   torch.masked.argmax(x.half(), 0, mask=mask, dtype=torch.int64), where the largest is 0.7 and all others 0.2: 4097
# The index is returned in the dtype of the numbers: rounded, or modulo 256, without a warning. With bfloat16, as logits
# of a language model are, it is wrong for most places above 256. What helps: dtype=torch.int64. The documentation says
# that the numbers are converted to that dtype before they are compared, so that 0.7 would be 0; they are not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
# shellcheck disable=SC2086
"$folder/venv/bin/pip" install --quiet ${PIP_ARGS:-} torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -W ignore - <<'PY'
import sys

import torch

SIZE, PLACE = 5000, 4097
mask = torch.ones(SIZE, dtype=torch.bool)
seen = {}
for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.uint8):
    numbers = torch.zeros(SIZE, dtype=dtype)
    numbers[PLACE] = 1
    masked = torch.masked.argmax(numbers, 0, mask=mask)
    seen[str(dtype)] = [numbers.argmax().item(), masked.item(), str(masked.dtype)]
    seen[f"{dtype}, masked_fill"] = numbers.masked_fill(~mask, 0).argmax().item()
fractions = torch.full((SIZE,), 0.2)
fractions[PLACE] = 0.7
seen["dtype=int64"] = torch.masked.argmax(fractions.half(), 0, mask=mask, dtype=torch.int64).item()
print(f"torch {torch.__version__}")
for what, value in seen.items():
    print(f"  {what}: {value}")
expected = {
    "torch.float32": [PLACE, 4097.0, "torch.float32"],
    "torch.float16": [PLACE, 4096.0, "torch.float16"],
    "torch.bfloat16": [PLACE, 4096.0, "torch.bfloat16"],
    "torch.uint8": [PLACE, 1, "torch.uint8"],
    "dtype=int64": PLACE,
}
filled = {name: value for name, value in seen.items() if name.endswith("fill")}
same = set(filled.values()) == {PLACE} and {name: seen[name] for name in expected} == expected
sys.exit(0 if same else "the behaviour has changed")
PY
