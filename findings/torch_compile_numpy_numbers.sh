#!/usr/bin/env bash
# PyTorch: NumPy code in a function of `torch.compile`, with the backend "eager", which compiles nothing.
#
# Guess before the run: the numbers and dtypes are NumPy's; only scalars are arrays of 0 dims, which is documented.
# Seen with torch 2.13.0 (CPU) and numpy 2.4.6, and the same with 2.14.1 and 2.5.5: what the function returns, then what
# the compiled one returns, without an error or a warning.
#   np.modf([-1.5])[0]                    -> [-0.5]             [0.5]
#   np.fix([-1.5])                        -> [-1.0]             [-2.0]
#   np.cbrt([-8.0])                       -> [-2.0]             [nan]
#   np.cumsum of uint8 [200, 100]         -> [200, 300]         [200, 44]
#   np.clip(of uint8 [200, 100], 0, 300)  -> [200, 100]         [44, 44]
#   np.around([17, 25], -1)               -> [20, 20]           [17, 25]
#   np.reciprocal([4])                    -> [0]                [0.25]
#   np.median([1.0, 2.0]).shape           -> ()                 (1,)
#   (np.int32([7]) / 2).dtype             -> float64            float32, also of uint8 and of bool
# While it traces, torch.compile replaces NumPy's functions by those of torch._numpy, so they run under every backend,
# for `x.numpy()` of a tensor within a larger function, too. (Issue 198052 of PyTorch has fix, cbrt and clip.) What
# helps: `torch._dynamo.config.trace_numpy = False`, or `torch.compiler.disable` for a helper that calls NumPy; for the
# outermost function it has no effect.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
# shellcheck disable=SC2086
"$folder/venv/bin/pip" install --quiet ${PIP_ARGS:-} torch==2.13.0 numpy==2.4.6
cat > "$folder/look.py" <<'PY'
import sys
import warnings

import numpy as np
import torch
import torch._dynamo


def truncate(x):
    return np.fix(x)


def part(x):
    return np.modf(x)[0]


def root(x):
    return np.cbrt(x)


def running(x):
    return np.cumsum(x)


def clip(x):
    return np.clip(x, 0, 300)


def tens(x):
    return np.around(x, -1)


def inverse(x):
    return np.reciprocal(x)


@torch.compiler.disable
def kept(x):
    return np.cbrt(x)


def calls_kept(x):
    return kept(x)


def median(x):
    return np.median(x)


def half(x):
    return x / 2


warnings.simplefilter("error", RuntimeWarning)
small = np.array([200, 100], dtype=np.uint8)
cases = [
    (part, np.array([-1.5]), [-0.5], [0.5]),
    (truncate, np.array([-1.5]), [-1.0], [-2.0]),
    (root, np.array([-8.0]), [-2.0], [np.nan]),
    (running, small, [200, 300], [200, 44]),
    (clip, small, [200, 100], [44, 44]),
    (tens, np.array([17, 25]), [20, 20], [17, 25]),
    (inverse, np.array([4]), [0], [0.25]),
]
print(f"torch {torch.__version__}, numpy {np.__version__}")
same = True
for function, x, of_numpy, of_compiled in cases:
    plain, compiled = function(x), torch.compile(function, backend="eager")(x)
    print(f"  {function.__name__}: {plain.tolist()} {plain.dtype}, compiled: {compiled.tolist()} {compiled.dtype}")
    same &= np.array_equal(plain, of_numpy) and np.array_equal(compiled, of_compiled, equal_nan=True)
shapes = [np.shape(median(np.array([1.0, 2.0]))), torch.compile(median, backend="eager")(np.array([1.0, 2.0])).shape]
dtypes = [str(half(np.int32([7])).dtype), str(torch.compile(half, backend="eager")(np.int32([7])).dtype)]
print(f"  shapes of a median: {shapes}, dtypes of int32 / 2: {dtypes}")
same &= shapes == [(), (1,)] and dtypes == ["float64", "float32"]
eights = np.array([-8.0])
helped = [torch.compile(function, backend="eager")(eights).item() for function in (calls_kept, kept)]
torch._dynamo.config.trace_numpy = False
torch._dynamo.reset()
helped.append(torch.compile(root, backend="eager")(eights).item())
print(f"  cbrt, disabled within and outermost, with trace_numpy=False: {helped}")
same &= np.array_equal(helped, [-2.0, np.nan, -2.0], equal_nan=True)
sys.exit(0 if same else "the behaviour has changed")
PY
"$folder/venv/bin/python" -W ignore "$folder/look.py"
