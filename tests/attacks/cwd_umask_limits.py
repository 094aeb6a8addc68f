r"""Leaves another working folder, mask, limits and priority behind.

---
exercise: double
"""

import contextlib
import os
import resource

KEPT = os.getcwd()


def double(x):
    os.chdir("/")
    os.umask(0o777)
    os.environ.clear()
    for what, limit in ((resource.RLIMIT_NOFILE, 8), (resource.RLIMIT_STACK, 1 << 20), (resource.RLIMIT_FSIZE, 0)):
        try:
            resource.setrlimit(what, (limit, limit))
        except (OSError, ValueError):
            continue
    with contextlib.suppress(PermissionError):  # refused without namespaces
        os.nice(5)
    return 2 * x


def halve(x):
    return x / 2
