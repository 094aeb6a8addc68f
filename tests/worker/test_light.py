"""What a worker need not import, so that a submission costs a fork."""

from __future__ import annotations

from support import Function

OWN = """
import sys

class Descent(torch.optim.Optimizer):
    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                p -= group["lr"] * p.grad

def descended():
    w = torch.ones(2, requires_grad=True)
    optimizer = Descent([w], {"lr": 0.5})
    w.sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    return w.tolist(), "torch._dynamo" in sys.modules
"""


def test_an_optimizer_needs_no_compiler(function: Function) -> None:
    """A student's own optimizer is made and makes a step without the import of PyTorch's compiler, which takes long."""
    assert function(OWN, "descended")() == ([0.5, 0.5], False)
