"""`python -m grader.session [FD [FD]]`: a check process. It talks with the host over its standard streams, in frames.

With a descriptor, workers are forked by the worker server behind that socket, and those that have the standard library
alone by the one behind the second; without, they are spawned.

What is imported here at the top is small. Torch and pytest come later, when standard output is no
longer the channel: what they, or a check file, print at import does not reach the host.
"""

from __future__ import annotations

import gc
import os
import sys

from grader.model.messages import Plan
from grader.sandbox import cgroup
from grader.session.host import Host
from grader.wire.frames import Channel
from grader.wire.transport import standard_streams


def main() -> None:
    """Collect, then grade until the host closes the channel."""
    gc.disable()  # as in `grader.worker.__main__`
    # Before torch and pytest are imported: a print at import would otherwise write into the frames.
    host = Host(Channel(standard_streams()))
    plan = host.receive()
    if not isinstance(plan, Plan):
        return
    servers, groups = list[int](), None
    if len(sys.argv) > 1:
        from grader.sandbox.check_process import give_up

        servers, groups = [int(number) for number in sys.argv[1:]], cgroup.find()
        os.environ["TMPDIR"] = str(plan.root)
        give_up(groups, [*map(str, plan.folders)], [str(plan.root)])  # `grade doctor` says what a machine refuses
    from grader.session.start import run

    gc.freeze()  # or the first collection would go over all of PyTorch's objects, which stay
    gc.enable()
    run(host, plan, servers, groups)
    # All is reported and closed. Python would now take torch apart, and the user would wait for it.
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
