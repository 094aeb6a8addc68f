"""`python -m grader.check_process`: a check process that spawns its workers; `forked` has forked ones.

It talks with the host over its standard streams, in frames. What is imported here at the top is small. Torch and pytest
come later, when standard output is no longer the channel: what they, or a check file, print at import does not reach
the host.
"""

from __future__ import annotations

import gc
import os
import sys

from grader.check_process.host import Host
from grader.model.messages import Plan
from grader.wire.frames import Channel
from grader.wire.transport import standard_streams


def main() -> None:
    """Receive a plan from the host, collect its checks, and grade until the host closes the channel."""
    gc.disable()  # as in `grader.worker.__main__`
    # Before torch and pytest are imported: a print at import would otherwise write into the frames.
    host = Host(Channel(standard_streams()))
    plan = host.receive()
    if not isinstance(plan, Plan):
        return
    from grader.check_process.start import run

    gc.freeze()  # or the first collection would go over all of PyTorch's objects, which stay
    gc.enable()
    run(host, plan, [])
    # All is reported and closed. Python would now take torch apart, and the user would wait for it.
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
