"""`python -m grader.sandbox.launch PLAN PARENT`: the worker server, inside namespaces and a root.

    host -- outer        waits
              +-- inner  enters namespaces, builds the root
                    +-- worker server   process 1 in there
                          +-- worker, worker, ...   each of them process 1 in namespaces of its own

Where the kernel refuses, the outer process starts the same command without all this and hands on the reason. PLAN is
`messages.LaunchPlan`; the command gets one argument more, `messages.Launched`.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import NoReturn

from grader.sandbox import kernel, seccomp
from grader.sandbox.messages import Launched, LaunchPlan, from_text, to_text
from grader.sandbox.namespaces import patiently, require_room
from grader.sandbox.view import COPIED, build

_STRANGER = 2_000_000_000
"""A user without files on any system, for workers of root."""

_NOBODY = 65534

_REFUSED = 77

_WORLD = (kernel.OF_A_WORKER ^ kernel.CLONE_NEWUSER) | kernel.CLONE_NEWPID | kernel.CLONE_NEWCGROUP


def main() -> None:
    """Start the command in namespaces, or without them where there can be none."""
    kernel.die_with_parent()
    if os.getppid() != int(sys.argv[2]):  # it was gone before we asked
        return
    # From here on: if the host dies, this does, and with it all that it holds.
    plan = from_text(sys.argv[1])
    assert isinstance(plan, LaunchPlan)
    refused = _try_inner(plan) if plan.namespaces else "namespaces were not wanted"
    readable = _readable(plan) if plan.rules else None
    _become(plan, Launched(refused, readable))


def _become(plan: LaunchPlan, launched: Launched) -> NoReturn:
    os.execv(plan.command[0], [*plan.command, to_text(launched)])  # noqa: S606  the command is ours


def _readable(plan: LaunchPlan) -> tuple[str, ...] | None:
    """What a worker at the level `reduced` may read, or None if the kernel or the machine has not what that needs."""
    from grader.sandbox import landlock

    try:
        seccomp.load("base")
    except OSError:
        return None
    return (*plan.view.folders(), *COPIED) if landlock.abi() else None


def _try_inner(plan: LaunchPlan) -> str:
    """Start the inner process and end when it ends. Returns only if it could not start, with the reason."""
    # It closes without a word once the command runs, as `exec` closes it. A word is a reason why it does not.
    read, report = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            _inner(plan, report)
        except OSError as error:
            os.write(report, str(error).encode())
        os._exit(_REFUSED)
    os.close(report)
    with os.fdopen(read, "rb") as pipe:
        said = pipe.read()
    os.waitpid(pid, 0)
    if said:
        return said.decode("utf-8", "replace")
    os._exit(0)  # the server has ended; the host waits for this process


def _inner(plan: LaunchPlan, report: int) -> NoReturn:
    kernel.die_with_parent()
    # Kept from the outside: the new root is mounted over it, and measuring and mapping users need one.
    proc = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    os.chdir("/")
    # Tried before anything is built: without a filter for this processor all else would be in vain.
    seccomp.load("base")
    is_root = _may_mount()
    if is_root:
        # With root's rights, which may be needed to reach the interpreter.
        patiently(lambda: kernel.unshare(kernel.CLONE_NEWNS))
        build(plan.view)
        _be_a_stranger()
    # In a user namespace one has the rights to make the others.
    user, group = os.getuid(), os.getgid()
    patiently(lambda: kernel.unshare(kernel.CLONE_NEWUSER | _WORLD))
    kernel.map_user(proc, 0, user, group)
    if not is_root:
        build(plan.view)
    # A process namespace begins with the next child, which is process 1 of it; when that one ends, all do.
    pid = os.fork()
    if pid == 0:
        kernel.die_with_parent()
        require_room(proc)
        os.set_inheritable(proc, True)  # everything else is closed by `exec`
        _become(plan, Launched(proc=proc))
    os.close(report)
    os.waitpid(pid, 0)
    os._exit(0)


def _may_mount() -> bool:
    """Whether this is root with all its rights; in a container root may be no more than a name."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        effective = next((int(line.split()[1], 16) for line in file if line.startswith("CapEff")), 0)
    return os.geteuid() == 0 and bool(effective >> kernel.CAP_SYS_ADMIN & 1)


def _be_a_stranger() -> None:
    """Be a user without files, who may still make namespaces."""
    os.setgroups([])  # root's further groups would open files to a stranger
    for user in (_STRANGER, _NOBODY):  # in a container there may be few users
        with contextlib.suppress(OSError):
            kernel.change_user(user)
            return
    raise OSError("there is no other user to be")


if __name__ == "__main__":
    main()
