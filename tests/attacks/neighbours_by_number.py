r"""Tries all process numbers near its own: looks for them, signals them, and has the kernel signal them.

---
exercise: double
shown_output: tried
level: reduced
"""

import ctypes
import fcntl
import os
import resource
import signal
import time

LIBC = ctypes.CDLL(None, use_errno=True)
F_SETSIG, F_SETOWN_EX = 10, 15
ME = os.getpid()


def by_file(command, pid):
    read, write = os.pipe()
    try:
        fcntl.fcntl(read, command, pid)
        fcntl.fcntl(read, F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(read, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
        os.write(write, b"x")
    finally:
        os.close(read)
        os.close(write)


CALLS = {
    "signalled": lambda pid: os.kill(pid, 0),
    "signalled as a group": lambda pid: os.killpg(pid, 0) if pid > 1 else by_file(F_SETOWN_EX, pid),
    "signalled by a file": lambda pid: by_file(fcntl.F_SETOWN, pid),
    "signalled by a descriptor": lambda pid: signal.pidfd_send_signal(os.pidfd_open(pid), 0),
    "slowed": lambda pid: os.setpriority(os.PRIO_PROCESS, pid, 19),
    "moved": lambda pid: os.sched_setaffinity(pid, {0}),
    "limited": lambda pid: resource.prlimit(pid, resource.RLIMIT_CPU, (1, 1)),
}
SEES = {
    "group": os.getpgid,
    "session": os.getsid,
    "processors": os.sched_getaffinity,
    "kind": os.sched_getscheduler,
    "priority": lambda pid: os.getpriority(os.PRIO_PROCESS, pid),
    "clock": lambda pid: time.clock_gettime((~pid << 3) | 2),
    "limits": lambda pid: resource.prlimit(pid, resource.RLIMIT_CPU),
}

for near in {1, *range(max(2, ME - 40), ME + 40)} - {ME}:
    for what, call in CALLS.items():
        try:
            call(near)
            print("BREACH: another process was", what)
        except OSError:
            pass
    if os.getcwd() == "/home/student/work":  # `full`: below, numbers are seen
        for what, call in SEES.items():
            try:
                call(near)
                print("BREACH: saw the", what, "of another process")
            except ProcessLookupError:
                print("BREACH: the", what, "tells which numbers are processes")
            except OSError:
                pass
print("tried")


def double(x):
    return 2 * x


def halve(x):
    return x / 2
