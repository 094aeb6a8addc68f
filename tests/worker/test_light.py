"""What a process need not import, so that a submission costs a fork."""

from __future__ import annotations

import subprocess
import sys

import pytest
from support import Function

OWN = """
class Descent(torch.optim.Optimizer):
    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                p -= group["lr"] * p.grad

def descent(parameters):
    return Descent(parameters, {"lr": 0.5})
"""
PYTORCHS = """
def descent(parameters):
    return torch.optim.SGD(parameters, lr=0.5)
"""
STEP = """
import sys

def descended():
    w = torch.ones(2, requires_grad=True)
    optimizer = descent([w])
    w.sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    return w.tolist(), "torch._dynamo" in sys.modules
"""
META = """
import sys

def compared():
    return (torch.zeros(3, device="meta") == 3).shape, "torch._dynamo" in sys.modules
"""


@pytest.mark.parametrize("optimizer", [OWN, PYTORCHS])
def test_an_optimizer_needs_no_compiler(function: Function, optimizer: str) -> None:
    """An optimizer is made and makes a step without the import of PyTorch's compiler, which takes two seconds."""
    assert function(optimizer + STEP, "descended")() == ([0.5, 0.5], False)


def test_the_meta_device_needs_no_compiler(function: Function) -> None:
    """Operators on it run in Python, which the compiler passes over: they do not import it to be told so."""
    assert function(META, "compared")() == ((3,), False)


CLOSE = """
import sys

def close():
    before = "torch.distributed.tensor" in sys.modules  # where a simulated device needed them, they are there
    torch.testing.assert_close(torch.ones(2), torch.ones(2))
    try:
        torch.testing.assert_close(torch.ones(2), torch.zeros(2))
    except AssertionError as error:
        return "not close" in str(error), ("torch.distributed.tensor" in sys.modules) and not before
"""


def test_a_comparison_needs_no_distributed_tensors(function: Function) -> None:
    """`torch.testing.assert_close` imports them to ask whether it is given some: there are none before."""
    assert function(CLOSE, "close")() == (True, False)


COMPILED = """
import torch
from grader.sandbox.slow_imports import leave_slow_imports_out

leave_slow_imports_out()
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
