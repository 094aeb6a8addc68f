#!/usr/bin/env bash
# PyTorch: a matrix product of a tensor on the CPU with one on "meta".
#
# Guess before the run: an error about two devices, as for `c + m`; or a result on "meta", as for `m @ c`.
# Seen with torch 2.10.0, 2.13.0 and 2.14.1, where c lies on the CPU and m on "meta":
#   c + m                                      -> RuntimeError: Tensor on device meta is not on the expected device cpu!
#   m @ c                                      -> a tensor on "meta"
#   c @ m                                      -> a tensor on the CPU, whose memory is uninitialized
#   Linear(2, 2, bias=False, device="meta")(c) -> the same; with a bias it raises
#   addmm, baddbmm, conv2d, cdist, gather, scatter, c[indices on "meta"] -> the same
#   torch.zeros(()).add_(torch.ones((), device="meta")) -> still 0
# The kernel for "meta" is chosen, allocates the result on the device of the first argument, and computes nothing. So a
# model that was made on "meta", of which one layer was never given memory, may run on the CPU, with random numbers.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
# shellcheck disable=SC2086
"$folder/venv/bin/pip" install --quiet ${PIP_ARGS:-} torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" - <<'PY'
import sys

import torch

torch.use_deterministic_algorithms(True)  # so that uninitialized memory is NaN
c, m = torch.ones(2, 2), torch.ones(2, 2, device="meta")
picture, kernel = torch.ones(1, 1, 3, 3), torch.ones(1, 1, 2, 2, device="meta")
calls = {
    "c + m": lambda: c + m,
    "m @ c": lambda: m @ c,
    "c @ m": lambda: c @ m,
    "linear": lambda: torch.nn.Linear(2, 2, bias=False, device="meta")(c),
    "linear with bias": lambda: torch.nn.Linear(2, 2, device="meta")(c),
    "conv2d": lambda: torch.nn.functional.conv2d(picture, kernel),
    "gather": lambda: c.gather(0, torch.zeros(2, 2, dtype=torch.int64, device="meta")),
    "zero += meta one": lambda: torch.zeros(()).add_(torch.ones((), device="meta")),
}


def outcome(call):
    try:
        result = call()
    except RuntimeError:
        return "RuntimeError"
    if result.is_meta:
        return "meta"
    return "uninitialized" if result.isnan().all() else f"numbers {result.tolist()}"


seen = {name: outcome(call) for name, call in calls.items()}
print(f"torch {torch.__version__}")
for name, found in seen.items():
    print(f"{name}: {found}")
expected = {
    "c + m": "RuntimeError",
    "m @ c": "meta",
    "c @ m": "uninitialized",
    "linear": "uninitialized",
    "linear with bias": "RuntimeError",
    "conv2d": "uninitialized",
    "gather": "uninitialized",
    "zero += meta one": "numbers 0.0",
}
sys.exit(0 if seen == expected else "the behaviour has changed")
PY
