"""What a process need not import, so that a submission costs a fork."""

from __future__ import annotations

import subprocess
import sys

import pytest
from support import Function

pytestmark = pytest.mark.lane

LIGHT = """
import sys

class Descent(torch.optim.Optimizer):
    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                p -= group["lr"] * p.grad

def descended(make):
    w = torch.ones(2, requires_grad=True)
    optimizer = make([w])
    w.sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    return w.tolist()

def compared():
    torch.testing.assert_close(torch.ones(2), torch.ones(2))
    try:
        torch.testing.assert_close(torch.ones(2), torch.zeros(2))
    except AssertionError as error:
        return "not close" in str(error)

WAYS = {
    "an optimizer": lambda: descended(lambda parameters: Descent(parameters, {"lr": 0.5})),
    "PyTorch's": lambda: descended(lambda parameters: torch.optim.SGD(parameters, lr=0.5)),
    "meta": lambda: (torch.zeros(3, device="meta") == 3).shape,  # operators on it run in Python
    "a comparison": compared,  # asks whether it is given distributed tensors: there are none before
}

def light():
    found = {}
    for name, way in WAYS.items():
        before = set(sys.modules)  # where a simulated device needed distributed tensors, they are there
        found[name] = way(), [name for name in HEAVY if name in set(sys.modules) - before]
    return found

HEAVY = "torch._dynamo", "torch.distributed.tensor"
"""


def test_optimizers_the_meta_device_and_comparisons_are_light(function: Function) -> None:
    """Neither needs the import of PyTorch's compiler, which takes two seconds, or of distributed tensors."""
    given = {"an optimizer": [0.5, 0.5], "PyTorch's": [0.5, 0.5], "meta": (3,), "a comparison": True}
    assert function(LIGHT, "light")() == {name: (result, []) for name, result in given.items()}


COMPILED = """
import torch
from grader.sandbox.slow_imports import skip_slow_imports

skip_slow_imports()
w = torch.ones(2, requires_grad=True)
optimizer = torch.optim.AdamW([w], lr=0.5)
w.sum().backward()
optimizer.step()
assert w.max() < 1

@torch.compile(backend="eager")
def step(x):
    optimizer.step()
    optimizer.zero_grad()
    return x + 1

print(step(torch.ones(1)).item(), w.grad)
"""


def test_who_compiles_finds_the_compiler() -> None:
    """Once it is loaded, all is as PyTorch has it: what the compiler is to pass over is told to it."""
    done = subprocess.run([sys.executable, "-c", COMPILED], capture_output=True, text=True, check=False)
    assert done.stdout == "2.0 None\n", done.stderr
