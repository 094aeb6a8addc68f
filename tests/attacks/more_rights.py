r"""Raises its own limits and its priority, and asks the kernel to end other processes first.

---
exercise: double
shown_output: tried
level: full
"""

import os
import resource


def raise_limit(what):
    _, hard = resource.getrlimit(what)
    if hard == resource.RLIM_INFINITY:
        raise OSError
    resource.setrlimit(what, (hard + 1, hard + 1))


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def tries(what, call, *args):
    try:
        call(*args)
        print("BREACH:", what)
    except (OSError, ValueError):
        pass


for name in ("CPU", "AS", "NPROC", "FSIZE", "NOFILE", "CORE"):
    tries(name, raise_limit, getattr(resource, f"RLIMIT_{name}"))
tries("nice", os.nice, -1)
tries("realtime", os.sched_setscheduler, 0, os.SCHED_FIFO, os.sched_param(1))
tries("last to be killed", write, "/proc/self/oom_score_adj", "-1000")
tries("uid", os.setuid, 0) if os.getuid() else None
tries("groups", os.setgroups, [0])
tries("device", os.mknod, "wall_marker_node", 0o20666, os.makedev(1, 5))
for path in ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sys/vm/overcommit_memory"):
    tries(path, os.open, path, os.O_WRONLY)
for path in ("/proc/sysrq-trigger", "/proc/kcore", "/proc/kmsg", "/proc/1/mem", "/proc/1/oom_score_adj"):
    if path.split("/")[2] != str(os.getpid()) and not (os.getpid() == 1 and "/1/" in path):
        tries(path, os.open, path, os.O_WRONLY)
print("tried")


def double(x):
    return 2 * x


def halve(x):
    return x / 2
