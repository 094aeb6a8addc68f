"""A check process that is forked from the zygote's template, and has its workers from a worker server.

The template imports this file, and with it PyTorch, pytest and `grader.check`: all that needs no course.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from grader.check_process import start
from grader.check_process.host import Host
from grader.model.files import adapter
from grader.model.messages import Job, Plan
from grader.sandbox import cgroup
from grader.sandbox.check_confinement import confine_check_process
from grader.wire.frames import Channel
from grader.wire.transport import standard_streams

for _kind in (Plan, Job):
    adapter(_kind)  # what reads our messages is made in the template, once for all check processes


def run(servers: Sequence[int]) -> None:
    """Receive a plan from the host, collect its checks, and grade until the host closes the channel.

    Args:
        servers: descriptors of sockets: to the worker server, and to that of plain workers if there is one.
    """
    host = Host(Channel(standard_streams()))
    plan = host.receive()
    if not isinstance(plan, Plan):
        return
    groups = cgroup.find()
    os.environ["TMPDIR"] = str(plan.root)
    # What a machine refuses, `grade doctor` says.
    confine_check_process(groups, [*map(str, plan.folders)], [str(plan.root)])
    start.run(host, plan, servers, groups)
    # All is reported and closed. Python would now take torch apart, and the user would wait for it.
    sys.stderr.flush()
    os._exit(0)
