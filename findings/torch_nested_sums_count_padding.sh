#!/usr/bin/env bash
# PyTorch: sum, mean and max of a nested tensor that shows a part of each row of a padded batch.
#
# Guess before the run: `torch.nested.narrow(x, 1, 0, lengths, layout=torch.jagged)` shows the first numbers of each row,
# so its sum, mean and max are those of these numbers; the padding counts for nothing, as in a masked mean.
# Seen with torch 2.13.0 (CPU), and the same with 2.14.1, for three rows of four numbers and lengths 1, 2, 3:
#   unbind()                   the six numbers
#   sum(), mean(), max(), any  are those of all twelve numbers, and so is the gradient of sum()
#   sum(dim=1) and the like    raise: not supported for non-contiguous nested tensors with holes
#   contiguous().sum()         that of the six numbers
# A reduction along the ragged dim looks for holes and refuses them. One over all dims takes the whole memory that the
# view lies on. So does (x < 0).any(), and a loss that ends with mean() averages over the padding. What helps:
# `contiguous()` first.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
# shellcheck disable=SC2086
"$folder/venv/bin/pip" install --quiet ${PIP_ARGS:-} torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -W ignore - 2>/dev/null <<'PY'
import sys

import torch

batch = torch.arange(1.0, 13.0).reshape(3, 4).requires_grad_()
rows = torch.nested.narrow(batch, 1, 0, torch.tensor([1, 2, 3]), layout=torch.jagged)
try:
    along = rows.sum(dim=1).tolist()
except RuntimeError as error:
    along = "refused" if "holes" in str(error) else str(error)
(gradient,) = torch.autograd.grad(rows.sum(), batch)
seen = {
    "rows": [row.tolist() for row in rows.unbind()],
    "sum": rows.sum().item(),
    "mean": rows.mean().item(),
    "max": rows.max().item(),
    "any above 11": (rows > 11).any().item(),
    "gradient of the padding": gradient[0, 3].item(),
    "sum(dim=1)": along,
    "contiguous().sum()": rows.contiguous().sum().item(),
    "contiguous().mean()": rows.contiguous().mean().item(),
}
print(f"torch {torch.__version__}")
for what, value in seen.items():
    print(f"  {what}: {value}")
expected = [[[1.0], [5.0, 6.0], [9.0, 10.0, 11.0]], 78.0, 6.5, 12.0, True, 1.0, "refused", 42.0, 7.0]
sys.exit(0 if [*seen.values()] == expected else "the behaviour has changed")
PY
