"""What a check process does once it knows its plan."""

from __future__ import annotations

import socket

import torch
from torch.utils.backend_registration import rename_privateuse1_backend

from grader.check.devices import Accelerator
from grader.confine import cgroup
from grader.jobs import Plan, Spawned
from grader.model import Device
from grader.process.sweep import sweep
from grader.remote.fork import ForkStarter
from grader.remote.spawn import SpawnStarter
from grader.remote.worker import Starter
from grader.session.host import Host
from grader.session.plugin import run_session
from grader.session.self_test import self_test
from grader.session.sides import Sides


def run(host: Host, plan: Plan, server: int | None) -> None:
    """Collect the checks of all exercises, then grade jobs until there are no more.

    Args:
        host: who gives work and is told of outcomes.
        plan: what this process is there for.
        server: a descriptor of the socket to the worker server; None if workers are spawned.
    """
    # There is a check process for each lane; threads of theirs would take the cores from the workers.
    torch.set_num_threads(1)
    rename_privateuse1_backend("sim")  # so that a check can name the devices of a simulated accelerator
    accelerator = Accelerator()
    if plan.accelerator is Device.CUDA:
        accelerator = Accelerator(Device.CUDA, torch.cuda.device_count())
    starter: Starter
    if server is not None:
        groups = cgroup.find()
        if groups is not None:
            # A grader that was killed could not remove its groups. Nobody else knows their names.
            groups.sweep()
        starter = ForkStarter(socket.socket(fileno=server), plan.root, groups)
    else:
        roomy = plan.accelerator is Device.CUDA
        starter = SpawnStarter(plan.root, plan.spawn, lambda pid: host.tell(Spawned(pid)), roomy=roomy)
    try:
        # First of all: a machine on which no worker works must not look like a class of crashed submissions.
        self_test(starter)
        run_session(host, plan.exercises, Sides(starter), accelerator)
    finally:
        starter.close()
        sweep(str(plan.root))  # the host does it too, unless it was killed
