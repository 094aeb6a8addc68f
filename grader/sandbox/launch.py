"""`python -m grader.sandbox.launch PLAN PARENT`: the worker server, inside namespaces and a root.

    zygote -- outer        waits
              +-- inner    enters namespaces, builds the root
                    +-- worker server   process 1 in there
                          +-- holder of namespaces   process 1 in those that workers without processes share
                          +-- worker, worker, ...
                          +-- holder of namespaces   process 1 in those of one worker that may start processes
                          +-- that worker

Where the kernel refuses, the outer process becomes the server without all this and hands on the reason. The zygote
forks the outer process, and calls `launch`. A server that needs nothing of the zygote is started as a command, by the
host: PLAN is `messages.LaunchPlan`, and its command gets one argument more, `messages.Launched`. When the holder of its
namespaces is ended, the kernel ends all that a worker has started.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import socket
import struct
import sys
import time
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple, NoReturn, TypeVar

from grader.sandbox import kernel, seccomp, view
from grader.sandbox.messages import Launched, LaunchPlan, from_text, to_text

if sys.platform != "win32":  # workers import this on every system
    import fcntl

_STRANGER = 2_000_000_000
"""A user without files on any system, for workers of root."""

_REFUSED = 77

_WORLD = (kernel.OF_A_WORKER ^ kernel.CLONE_NEWUSER) | kernel.CLONE_NEWPID | kernel.CLONE_NEWCGROUP

_USER = 1000
"""User and group as seen inside."""

_DISK_MB = 192
_FILES = 8192

_SIOCSIFFLAGS = 0x8914
_IFF_UP = 0x1

AT_ONCE = 5
"""Workers that one lane may need at once: the student's for two kinds of devices, a reference's, and a timed pair."""

ENOUGH = AT_ONCE + 3
"""Namespaces of each kind for that: one for each worker, and what the launcher enters before it makes them."""

# The kernel takes old namespaces apart later than it counts them.
_PAUSES_S = (0.01, 0.05, 0.2, 0.5, 1.0)

Result = TypeVar("Result")


def main() -> None:
    """Start the command in namespaces, or without them where there can be none."""
    kernel.die_with_parent()
    if os.getppid() != int(sys.argv[2]):  # it was gone before we asked
        return
    # From here on: if the host dies, this does, and with it all that it holds.
    plan = from_text(sys.argv[1])
    assert isinstance(plan, LaunchPlan)
    command = plan.command
    launched = launch(plan)
    os.execv(command[0], [*command, to_text(launched)])  # noqa: S606  the command is ours


def launch(plan: LaunchPlan, keep: int | None = None) -> Launched:
    """Enter namespaces, or none where the kernel refuses; return in the process that is to be the server, only there.

    The processes on the way wait for its end, and end. The server does not run in here: workers that are forked from it
    could look at the frames below, and a plan names folders that they must not know.

    Args:
        plan: what of it is wanted.
        keep: the one descriptor that the server has besides the standard streams; None where it is executed, which
            closes all that are not meant for it.
    """
    inside = _try_inner(plan, keep) if plan.namespaces else "namespaces were not wanted"
    if isinstance(inside, Launched):
        return inside
    # Outside, since inside namespaces of one's own other limits are seen.
    refused = inside + advice(inside)
    readable = _readable(plan) if plan.rules else None
    return Launched(refused, readable, plan.view.listed)


def _readable(plan: LaunchPlan) -> tuple[str, ...] | None:
    """What a worker at the level `reduced` may read, or None if the kernel or the machine has not what that needs."""
    from grader.sandbox import landlock

    try:
        seccomp.load("base")
    except OSError:
        return None
    return (*plan.view.folders(), *view.COPIED) if landlock.abi() else None


def _try_inner(plan: LaunchPlan, keep: int | None) -> Launched | str:
    """Start the inner process, and end when it ends; return inside, or here with the reason why it did not start."""
    # It closes without a word once the server runs. A word is a reason why it does not.
    read, report = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        try:
            return _inner(plan, keep, report)
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


def _inner(plan: LaunchPlan, keep: int | None, report: int) -> Launched:
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
        stranger = _stranger()  # before /proc is covered
        view.build(plan.view)
        _be(stranger)
    # In a user namespace one has the rights to make the others.
    user, group = os.getuid(), os.getgid()
    patiently(lambda: kernel.unshare(kernel.CLONE_NEWUSER | _WORLD))
    kernel.map_user(proc, 0, user, group)
    if not is_root:
        view.build(plan.view)
    # A process namespace begins with the next child, which is process 1 of it; when that one ends, all do.
    pid = os.fork()
    if pid == 0:
        kernel.die_with_parent()
        require_room(proc)
        os.set_inheritable(proc, True)  # everything else is closed by `exec`, or here
        if keep is not None:
            kernel.close_all_but(keep, proc)
        return Launched(proc=proc)
    os.close(report)
    os.waitpid(pid, 0)
    os._exit(0)


def run_and_exit(action: Callable[[], None]) -> NoReturn:
    """Do something in a process that was forked, and end with it; what it raises goes to standard error."""
    try:
        action()
    except BaseException:
        end_with_traceback()
    finally:  # it must not come back into the code of the process that it was forked from
        os._exit(0)


def end_with_traceback() -> NoReturn:
    """End a process that was forked by what is being handled."""
    try:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(1)


def _may_mount() -> bool:
    """Whether this is root with all its rights; in a container root may be no more than a name."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        effective = next((int(line.split()[1], 16) for line in file if line.startswith("CapEff")), 0)
    return os.geteuid() == 0 and bool(effective >> kernel.CAP_SYS_ADMIN & 1)


def _be(user: int) -> None:
    """Be that user, who has no files, and may still make namespaces."""
    os.setgroups([])  # root's further groups would open files to a stranger
    kernel.change_user(user)


def _stranger() -> int:
    """Return a user that exists in this namespace: in a container there may be few."""
    last = 0
    with open("/proc/self/uid_map", encoding="ascii") as file:
        for line in file:
            start, _, count = map(int, line.split())
            if start <= _STRANGER < start + count:
                return _STRANGER
            last = max(last, start + count - 1)
    return last


# -- the namespaces of a worker ----------------------------------------------------------------------------------------


class Namespaces(NamedTuple):
    """Namespaces that a process of ours holds until it is ended; workers are forked into them.

    Attributes:
        holder: the pid of that process, which is process 1 in there.
        pidfd: a descriptor of it.
        of_one: whether one worker, with all that it starts, has them to itself.
    """

    holder: int
    pidfd: int
    of_one: bool


def open_namespaces(proc: int, here: int, *, of_one: bool) -> Namespaces:
    """Make namespaces for workers: of processes, an empty network, and no shared memory but their own.

    Those of one worker are furnished with a user, a private file system and a loopback device, over which its processes
    talk. Workers that share some have the rest of their own.

    Args:
        proc: a descriptor of a proc file system's folder.
        here: a pidfd of this process, which names its own process namespace.
        of_one: whether they are for one worker.

    Raises:
        OSError: the kernel refuses a step.
    """
    set_up = partial(_set_up, proc, of_one=of_one)
    pid = _fork_into(partial(kernel.unshare, kernel.CLONE_NEWPID), set_up, here)
    if pid == 0:
        _hold()
    return Namespaces(pid, os.pidfd_open(pid), of_one)


def fork_into(namespaces: Namespaces, proc: int, here: int) -> int:
    """Fork a process into namespaces: 0 in the child, once all is set up there, its pid in the parent.

    The arguments and errors are those of `open_namespaces`.
    """
    enter = partial(kernel.setns, namespaces.pidfd, kernel.CLONE_NEWPID)
    return _fork_into(enter, partial(_join, namespaces, proc), here)


def _fork_into(enter: Callable[[], None], set_up: Callable[[], None], here: int) -> int:
    """Fork once a process namespace was entered for the next child; wait until that child is set up."""
    read, write = os.pipe()
    with os.fdopen(read, "rb") as pipe:
        try:
            enter()
            try:
                pid = os.fork()
            except OSError:
                kernel.setns(here, kernel.CLONE_NEWPID)
                raise
            if pid == 0:
                try:
                    set_up()
                except OSError as error:
                    os.write(write, f"{error.errno} {error.strerror}".encode())
                    os._exit(_REFUSED)
                return 0
            # Back to our own: nothing else is forked into that namespace by mistake.
            kernel.setns(here, kernel.CLONE_NEWPID)
        finally:
            os.close(write)  # so that reading ends when the child has closed its end, too
        refused = pipe.read()
    if refused:
        number, _, text = refused.decode("utf-8", "replace").partition(" ")
        os.waitpid(pid, 0)
        raise OSError(int(number), text)
    return pid


def _set_up(proc: int, *, of_one: bool) -> None:
    """In the process that holds them: enter new namespaces, and furnish them."""
    kernel.unshare(kernel.OF_A_WORKER if of_one else kernel.SHARED)
    if of_one:
        kernel.map_user(proc, _USER, 0, 0)  # root of the namespaces around it
        view.mount_private(_DISK_MB, _FILES)
        # A new network has a loopback device that is down. Ranks of one worker talk over it.
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            fcntl.ioctl(sock, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP))
    with contextlib.suppress(PermissionError):  # filtered in some containers; then it keeps the container's name
        socket.sethostname("worker")


def _join(namespaces: Namespaces, proc: int) -> None:
    """In a worker: join what is shared, besides the process namespace; make of its own what is not."""
    if namespaces.of_one:
        kernel.setns(namespaces.pidfd, kernel.OF_A_WORKER)
    else:
        kernel.setns(namespaces.pidfd, kernel.SHARED)
        kernel.unshare(kernel.OF_A_WORKER & ~kernel.SHARED)
        kernel.map_user(proc, _USER, 0, 0)
        view.mount_private(_DISK_MB, _FILES)


def _hold() -> NoReturn:
    """Be there until ended from outside. What is left to process 1 when its parent ends is reaped by the kernel."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    # It stays traceable, or no worker could join; what lives in there has no system call to trace with.
    kernel.drop_capabilities()
    kernel.forbid_new_privileges()
    kernel.die_with_parent()
    # The sockets of the server among them: a lane must see them close when the server is gone.
    kernel.close_all_but()
    while True:
        signal.pause()


def require_room(proc: int) -> None:
    """See whether there can be as many workers as may be needed at once, each with namespaces of its own.

    Raises:
        OSError: the kernel refuses a step, or that many.
    """
    here, opened = os.pidfd_open(os.getpid()), list[Namespaces]()
    try:
        while len(opened) < AT_ONCE:
            opened.append(patiently(lambda: open_namespaces(proc, here, of_one=True)))
        opened.append(patiently(lambda: open_namespaces(proc, here, of_one=False)))
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        some = f"there is room for {len(opened)} workers at once: {error.strerror}"
        raise OSError(error.errno, some) from None
    finally:
        os.close(here)
        for each in opened:
            os.kill(each.holder, signal.SIGKILL)
            os.waitpid(each.holder, 0)
            os.close(each.pidfd)


def patiently(action: Callable[[], Result]) -> Result:
    """What an action gives, which is tried again for a while as long as there are no namespaces left.

    Raises:
        OSError: it failed for another reason, or for that one all the time.
    """
    for pause in _PAUSES_S:
        try:
            return action()
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            time.sleep(pause)
    return action()


def advice(reason: str, settings: str = "/proc/sys") -> str:
    """Return which settings of the kernel may be why it refused namespaces, each with what is needed; else "".

    Args:
        reason: what the kernel said.
        settings: the folder that has them, see namespaces(7).
    """
    found = []
    if "ENOSPC" in reason:
        for path in sorted(Path(settings, "user").glob("max_*_namespaces")):
            if (most := _number(path)) is not None and most < ENOUGH:
                found.append(f"user.{path.name} is {most}")
        others = "others use up what user.max_*_namespaces allow, or a limit around this container does"
        return f"; {', '.join(found) or others}; {AT_ONCE} workers need {ENOUGH}"
    if "EPERM" in reason or "EACCES" in reason:
        for name, forbids in (("unprivileged_userns_clone", 0), ("apparmor_restrict_unprivileged_userns", 1)):
            if _number(Path(settings, "kernel", name)) == forbids:
                found.append(f"; kernel.{name} is {forbids}; workers need {1 - forbids}")
    return "".join(found)


def _number(path: Path) -> int | None:
    """Return the number in a file; None if there is no such file, or it may not be read."""
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


if __name__ == "__main__":
    main()
