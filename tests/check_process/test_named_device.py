"""PyTorch in a check process, where a device has a name and there is none of it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.lane

PROGRAMS = {
    "optimizers": "w = torch.nn.Parameter(torch.ones(2)); w.grad = torch.ones(2)\n"
    "for kind in (torch.optim.AdamW, torch.optim.Adam, torch.optim.SGD, torch.optim.RMSprop):\n"
    "    kind([w], lr=0.1).step()\n"
    "torch.optim.AdamW([w], lr=0.1, foreach=True).step()\n"
    "assert not torch.equal(w, torch.ones(2))",
    "checkpoint": "import torch.utils.checkpoint as checkpoint\n"
    "for way in (True, False):\n"
    "    x = torch.ones(2, requires_grad=True)\n"
    "    checkpoint.checkpoint(lambda x: (x * x).sum(), x, use_reentrant=way).backward()\n"
    "    assert x.grad.tolist() == [2.0, 2.0]",
    "random state": "with torch.random.fork_rng():\n"
    "    torch.manual_seed(1)\n"
    "    first = torch.rand(2)\n"
    "torch.manual_seed(1)\n"
    "assert torch.equal(first, torch.rand(2))",
    "no accelerator": "assert not torch.accelerator.is_available() and torch.accelerator.device_count() == 0",
    "pinned loader": "assert len(list(torch.utils.data.DataLoader(torch.arange(4), 2, pin_memory=True))) == 2",
    "names": "assert torch.device('sim:1').index == 1",
}


RUN = """
import json, sys, torch, warnings
from grader.check_process.start import register_device_name
warnings.simplefilter("ignore")
register_device_name()
told = {}
for name, text in json.load(sys.stdin).items():
    try:
        exec(text)
    except Exception as error:
        told[name] = str(error)
print(json.dumps(told))
"""


def test_pytorch_works_beside_the_name() -> None:
    """What asks its accelerator something is told that there is none; what is put there is refused in words."""
    programs = {**PROGRAMS, "there": "torch.zeros(2, device='sim')"}
    done = subprocess.run(
        [sys.executable, "-c", RUN], input=json.dumps(programs), capture_output=True, text=True, check=True
    )
    told = json.loads(done.stdout)
    assert list(told) == ["there"]
    assert "a check process has no accelerator" in told["there"]
