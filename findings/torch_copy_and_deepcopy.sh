#!/usr/bin/env bash
# PyTorch: `copy.copy` and `copy.deepcopy` of a tensor.
#
# Guess before the run: `copy.copy(t)` shares the memory, as `t.view(t.shape)` does, so autograd follows it and notices
# a write to it. `copy.deepcopy` keeps the gradient, the attributes and what shares memory, of parameters as of tensors,
# and the class.
# Seen with torch 2.13.0 (CPU), and the same with 2.14.1:
#   copy.copy(weight).fill_(100) between forward and backward  -> the gradient is 100 in place of 2, without an error
#   weight.view(-1).fill_(100) there                           -> RuntimeError: modified by an inplace operation
#   copy.copy(y) of a result y = 2 * x                         -> a leaf that requires a gradient; none reaches x
#   copy.deepcopy(y)                                           -> RuntimeError: only leaves
#   copy.deepcopy of a leaf tensor with a gradient and a label -> has both
#   the same of a Parameter                                    -> has neither
#   copy.deepcopy([t, t[:2]]), and of two such Parameters      -> the copies share memory, and do not
#   copy.deepcopy of `class Named(torch.Tensor): pass`         -> RuntimeError; copy.copy, pickle, clone keep the class
# `copy.copy` goes the way of pickle: it makes a new tensor on the old storage, with a version counter of its own. A
# Parameter is copied by a clone of its numbers alone, so `deepcopy` of a module has no gradients and unties flat views.
# What helps: `view`, `detach().clone()` and `state_dict`, each for what it says.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
# shellcheck disable=SC2086
"$folder/venv/bin/pip" install --quiet ${PIP_ARGS:-} torch==2.13.0 numpy==2.4.6
cat > "$folder/look.py" <<'PY'
import copy
import pickle
import sys

import torch
from torch import nn


class Named(torch.Tensor):
    pass


def gradient_after_write(alias):
    """Return the gradient of x in (x * weight).sum(), if an alias of the weight is written to before the backward."""
    x, weight = torch.ones(1, requires_grad=True), torch.tensor([2.0])
    loss = (x * weight).sum()
    alias(weight).fill_(100)
    try:
        loss.backward()
    except RuntimeError as error:
        return "refused" if "modified by an inplace operation" in str(error) else str(error)
    return x.grad.item()


def deep(tensor):
    try:
        return type(copy.deepcopy(tensor)).__name__
    except RuntimeError as error:
        return str(error).partition(" (graph leaves)")[0].partition(" only works")[0]


def has_gradient_and_label(leaf):
    leaf.sum().backward()
    leaf.label = "weight"
    copied = copy.deepcopy(leaf)
    return copied.grad is not None, hasattr(copied, "label")


def shares(first, second):
    first, second = copy.deepcopy([first, second])
    return first.data_ptr() == second.data_ptr()


x = torch.ones(1, requires_grad=True)
y = 2 * x
of_y = copy.copy(y)
of_y.sum().backward()
t = torch.arange(4.0)
flat = nn.Parameter(t.clone())
named = torch.ones(2).as_subclass(Named)
others = [copy.copy(named), pickle.loads(pickle.dumps(named)), named.clone()]
seen = {
    "write to copy.copy(weight)": gradient_after_write(copy.copy),
    "write to weight.view(-1)": gradient_after_write(lambda weight: weight.view(-1)),
    "copy.copy(2 * x): is a leaf, x.grad": (of_y.is_leaf, x.grad),
    "deepcopy(2 * x)": deep(y),
    "deepcopy of a tensor keeps grad, label": has_gradient_and_label(torch.ones(2, requires_grad=True)),
    "deepcopy of a Parameter": has_gradient_and_label(nn.Parameter(torch.ones(2))),
    "deepcopy of [t, t[:2]] shares": shares(t, t[:2]),
    "deepcopy of two Parameters": shares(flat, nn.Parameter(flat.data[:2])),
    "deepcopy of a subclass": deep(named),
    "other copies of it": [type(other).__name__ for other in others],
}
print(f"torch {torch.__version__}")
for what, value in seen.items():
    print(f"  {what}: {value}")
expected = [100, "refused", (True, None), "Only Tensors created explicitly by the user"]
expected += [(True, True), (False, False), True, False]
expected += ["The default implementation of __deepcopy__() for non-wrapper subclasses", ["Named"] * 3]
sys.exit(0 if [*seen.values()] == expected else "the behaviour has changed")
PY
"$folder/venv/bin/python" -W ignore "$folder/look.py"
