#!/usr/bin/env bash
# PyTorch: `torch.func.linearize` of a function that writes in place, to a tensor of its own.
#
# Guess before the run: the returned function computes what `jvp` does, each time, or `linearize` raises; and a later
# write to x changes nothing, or the function raises, as `backward` does.
# Seen with torch 2.13.0 (CPU), and the same with 2.14.1, at x = [1, 2, 3] with a tangent of ones:
#   y = x.clone(); y.mul_(2); return y * x      -> jvp [4, 8, 12]; linearize's [4, 8, 12], [6, 12, 18], [10, 20, 30]
#   y = x.clone(); y[1:].mul_(2); return y * x  -> jvp [2, 8, 12]; linearize's [2, 6, 9] each time
#   y = torch.zeros(3); y[1:] = x[:2]; return y * x    -> jvp [0, 3, 5]; linearize's [0, 2, 3] each time
#   y = x.sin(); y[1:] += 1; return y**2        -> jvp [0.91, -1.59, -2.26]; linearize's [0.91, -0.76, -0.28] each time
#   the function of `torch.func.vjp`, of these four    -> right each time
#   x * x, and x.zero_() before the first call  -> [0, 0, 0] in place of [2, 4, 6]; that of `vjp`, too
#   x * x, and x.zero_() after the first call   -> [2, 4, 6]
#   x * x by autograd, the same before backward -> RuntimeError: modified by an inplace operation
# What depends on x alone is computed at the first call and kept. Operators that write to it are run again at each call,
# and views of it are not views of what was kept. Nothing is raised. What helps: functions that do not write in place,
# `vmap` over `jvp` for many tangents, and a clone of x.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
# shellcheck disable=SC2086
"$folder/venv/bin/pip" install --quiet ${PIP_ARGS:-} torch==2.13.0 numpy==2.4.6
cat > "$folder/look.py" <<'PY'
import sys

import torch
from torch.func import jvp, linearize, vjp


def whole(x):
    y = x.clone()
    y.mul_(2)
    return y * x


def part(x):
    y = x.clone()
    y[1:].mul_(2)
    return y * x


def written(x):
    y = torch.zeros(3)
    y[1:] = x[:2]
    return y * x


def added(x):
    y = x.sin()
    y[1:] += 1
    return y**2


def square(x):
    return x * x


def rounded(tensor):
    return [round(number, 2) for number in tensor.tolist()]


x, ones = torch.tensor([1.0, 2.0, 3.0]), torch.ones(3)
seen = {}
print(f"torch {torch.__version__}")
for function in (whole, part, written, added):
    _, linear = linearize(function, x)
    _, back = vjp(function, x)
    backs = [rounded(back(ones)[0]) for _ in range(2)]
    seen[function.__name__] = rounded(jvp(function, (x,), (ones,))[1]), *(rounded(linear(ones)) for _ in range(3))
    print(f"  {function.__name__}: jvp, three times linearize: {seen[function.__name__]}, twice vjp: {backs}")
    sums = torch.autograd.functional.jacobian(lambda x: function(x).sum(), x)
    seen[f"vjp of {function.__name__}"] = backs == [rounded(sums)] * 2
for calls in (0, 1):
    point = x.clone()
    _, linear = linearize(square, point)
    for _ in range(calls):
        linear(ones)
    point.zero_()
    seen[f"zeros after {calls} calls"] = rounded(linear(ones))
    print(f"  x * x, x set to zeros after {calls} calls: {rounded(linear(ones))}")
point = x.clone()
_, back = vjp(square, point)
point.zero_()
seen["vjp, zeros"] = rounded(back(ones)[0])
point = x.clone().requires_grad_()
loss = square(point).sum()
with torch.no_grad():
    point.zero_()
try:
    loss.backward()
except RuntimeError as error:
    seen["autograd, zeros"] = "refused" if "modified by an inplace operation" in str(error) else str(error)
print(f"  the same with vjp: {seen['vjp, zeros']}, with backward: {seen['autograd, zeros']}")
expected = {
    "whole": ([4, 8, 12], [4, 8, 12], [6, 12, 18], [10, 20, 30]),
    "part": ([2, 8, 12], *[[2, 6, 9]] * 3),
    "written": ([0, 3, 5], *[[0, 2, 3]] * 3),
    "added": ([0.91, -1.59, -2.26], *[[0.91, -0.76, -0.28]] * 3),
    "zeros after 0 calls": [0, 0, 0],
    "zeros after 1 calls": [2, 4, 6],
    "vjp, zeros": [0, 0, 0],
    "autograd, zeros": "refused",
}
expected |= {f"vjp of {name}": True for name in ("whole", "part", "written", "added")}
sys.exit(0 if seen == expected else "the behaviour has changed")
PY
"$folder/venv/bin/python" -W ignore "$folder/look.py"
