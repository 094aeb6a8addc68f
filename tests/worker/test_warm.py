"""What the server that workers are forked from does ahead of need."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from grader.sandbox.process import workers_environment

pytestmark = pytest.mark.lane

WARM = """
import os, random, sys
import numpy as np, torch
from grader import accelerator
from grader.worker import counting, surroundings

torch.set_num_threads(1)
np.random.seed(5)

def states():
    return torch.get_rng_state().tolist(), str(np.random.get_state()), random.getstate()

before = states()
surroundings.avoid_compiler()
accelerator.preload()
counting.warm_up()
assert states() == before
assert torch.is_grad_enabled() and torch.utils._python_dispatch._get_current_dispatch_mode() is None
print(len(os.listdir("/proc/self/task")))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted in /proc; there is a server on Linux alone")
def test_a_warm_server_has_one_thread() -> None:
    """Warming up leaves no thread, spends no warning of PyTorch's, and generators and modes are as they were."""
    environment = {**os.environ, **workers_environment()}
    command = [sys.executable, "-W", "always", "-c", WARM]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    # With a toolkit of CUDA's and no GPU, PyTorch for CUDA says so when this is imported.
    said = [line for line in done.stderr.splitlines() if "No CUDA runtime is found" not in line]
    assert (done.stdout, said) == ("1\n", [])
