#!/usr/bin/env bash
# PyTorch: "cpu:0" is not "cpu".
#
# Guess before the run: there is one CPU, so `x.to("cpu:0")` is `x` for a tensor of the CPU, as `.to("cpu")` is.
# Seen with torch 2.13.0 (CPU), and the same with 2.14.1:
#   torch.zeros(2, device="cpu:0").device   is device(type='cpu'), without the index
#   torch.device("cpu:0") == x.device       is False
#   x.to("cpu:0")                           is a copy, and so is the same of its result, each time
#   module.to("cpu:0")                      copies each parameter
# A program that writes devices as f"{kind}:{rank}" copies everything at each `.to` on the CPU, and a comparison with the
# device that was asked for says that nothing was moved.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
# shellcheck disable=SC2086
"$folder/venv/bin/pip" install --quiet ${PIP_ARGS:-} torch==2.13.0
"$folder/venv/bin/python" -W ignore - <<'PY'
import sys

import torch

tensor = torch.zeros(2)
moved = tensor.to("cpu:0")
module = torch.nn.Linear(2, 2)
before = module.weight.data_ptr()
module.to("cpu:0")
seen = {
    "device of a tensor made on cpu:0": str(torch.zeros(2, device="cpu:0").device),
    "it is the device that was asked for": torch.zeros(2, device="cpu:0").device == torch.device("cpu:0"),
    "to cpu is the same tensor": tensor.to("cpu") is tensor,
    "to cpu:0 is the same tensor": moved is tensor,
    "again to cpu:0 is the same tensor": moved.to("cpu:0") is moved,
    "a module keeps its memory": module.weight.data_ptr() == before,
}
print(f"torch {torch.__version__}")
for what, value in seen.items():
    print(f"{what}: {value}")
sys.exit(0 if [*seen.values()] == ["cpu", False, True, False, False, False] else "the behaviour has changed")
PY
