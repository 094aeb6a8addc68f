#!/usr/bin/env bash
# PyTorch: dtypes of a function under `torch.vmap`, which takes a number and a vector of each example.
#
# Guess before the run: the dtype is that of a loop over the examples: a float64 of 0 dims leaves a float32 vector
# float32, in all functions.
# Seen with torch 2.13.0 (CPU), and the same with 2.14.1, s float64 of 0 dims and v a vector of float32:
#   s + v, s * v, s ** v, torch.maximum(s, v), torch.fmod(v, s)      -> float32 in a loop, float32 under vmap
#   torch.where(v > 1, s, v)                                           -> float32, but float64 under vmap
#   torch.clamp(v, min=s), torch.clamp(s, min=v)                       -> the same
#   torch.addcmul(v, s, v), torch.addcdiv(v, s, v)                     -> the same
#   torch.where(v > 100, v, s), v uint8 and s int64                    -> uint8 in a loop, int64 under vmap
#   torch.where(v > 0, v, s) @ w                                       -> a number in a loop, RuntimeError under vmap
#   torch.heaviside(s, v)                                              -> RuntimeError in a loop, float32 under vmap
# Under vmap a number of each example is a vector in memory. The rules of most functions take that into account when
# they choose the dtype; those of these five do not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
# shellcheck disable=SC2086
"$folder/venv/bin/pip" install --quiet ${PIP_ARGS:-} torch==2.13.0 numpy==2.4.6
cat > "$folder/look.py" <<'PY'
import sys

import torch

NUMBERS = torch.tensor([1.5, 2.5], dtype=torch.float64)
VECTORS = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
W = torch.ones(2)
SAME = {
    "add": lambda s, v: s + v,
    "mul": lambda s, v: s * v,
    "pow": lambda s, v: s**v,
    "maximum": lambda s, v: torch.maximum(s, v),
    "fmod": lambda s, v: torch.fmod(v, s),
}
OTHER = {
    "where": lambda s, v: torch.where(v > 1, s, v),
    "clamp of v": lambda s, v: torch.clamp(v, min=s),
    "clamp of s": lambda s, v: torch.clamp(s, min=v),
    "addcmul": lambda s, v: torch.addcmul(v, s, v),
    "addcdiv": lambda s, v: torch.addcdiv(v, s, v),
}


def dtypes(function, numbers=NUMBERS, vectors=VECTORS):
    """Return the dtype of the results of a loop over the examples, and that under vmap."""
    loop = lambda: torch.stack([function(s, v) for s, v in zip(numbers, vectors)])
    seen = []
    for call in (loop, lambda: torch.vmap(function)(numbers, vectors)):
        try:
            seen.append(str(call().dtype).removeprefix("torch."))
        except RuntimeError:
            seen.append("RuntimeError")
    return seen


seen = {what: dtypes(function) for what, function in (SAME | OTHER).items()}
seen["where, integers"] = dtypes(lambda s, v: torch.where(v > 100, v, s), NUMBERS.long(), VECTORS.to(torch.uint8))
seen["where @ w"] = dtypes(lambda s, v: torch.where(v > 0, v, s) @ W)
seen["heaviside"] = dtypes(torch.heaviside)
print(f"torch {torch.__version__}: in a loop, under vmap")
for what, value in seen.items():
    print(f"  {what}: {value}")
expected = [["float32", "float32"]] * len(SAME) + [["float32", "float64"]] * len(OTHER)
expected += [["uint8", "int64"], ["float32", "RuntimeError"], ["RuntimeError", "float32"]]
sys.exit(0 if [*seen.values()] == expected else "the behaviour has changed")
PY
"$folder/venv/bin/python" -W ignore "$folder/look.py"
