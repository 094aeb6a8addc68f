"""`python -m grader.sandbox.launch PLAN PARENT`: the worker server, inside namespaces and a root.

    zygote -- outer        waits
              +-- inner    enters namespaces, builds the root
                    +-- worker server   process 1 in there
                          +-- holder of namespaces   process 1 in those that workers without processes share
                          +-- worker, worker, ...
                          +-- holder of namespaces   process 1 in those of one worker that may start processes
                          +-- that worker

The outer and the inner process are the launcher (`grade-launcher` in `ps`). Where the kernel refuses, the outer process
becomes the server without all this and hands on the reason. The zygote
forks the outer process, and calls `launch`. A server that needs nothing of the zygote is started as a command, by the
host: PLAN is `start_messages.LaunchPlan`, and its command gets one argument more, `start_messages.Launched`. When the
holder of its namespaces is ended, the kernel ends all that a worker has started.
"""

from __future__ import annotations

import os
import sys

from grader.sandbox import kernel, seccomp, view
from grader.sandbox.datagrams import from_text, to_text
from grader.sandbox.namespace_limits import advice, require_room, retry_while_out_of_namespaces
from grader.sandbox.namespaces import REFUSED
from grader.sandbox.start_messages import Launched, LaunchPlan

_STRANGER = 2_000_000_000
"""A user without files on any system, for workers of root."""

_WORLD = (kernel.OF_A_WORKER ^ kernel.CLONE_NEWUSER) | kernel.CLONE_NEWPID | kernel.CLONE_NEWCGROUP


def main() -> None:
    """Enter namespaces if possible, then execute the command of the worker server there.

    The arguments of this command are the `LaunchPlan` as JSON, and the pid of the parent.
    """
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
    """Enter namespaces; return only in the process that becomes the worker server.

    If the kernel refuses namespaces, that is this process. Otherwise, the processes that were forked on the way wait
    for its end, and end. The server does not run in this function: workers that are forked from it could look at the
    frames below, and a plan names folders that they must not know.

    Args:
        plan: the layers of confinement that are wanted, and the files that are shown.
        keep: the descriptor that the server keeps besides the standard streams; None if the server is executed as a
            command, which closes all others.
    """
    inside = _fork_confined(plan, keep) if plan.namespaces else "namespaces were not wanted"
    if isinstance(inside, Launched):
        return inside
    # Outside, since inside namespaces of one's own other limits are seen.
    refused = inside + advice(inside)
    readable = _readable(plan) if plan.rules else None
    return Launched(refused, readable, plan.view.listed)


def _readable(plan: LaunchPlan) -> tuple[str, ...] | None:
    """Return the paths that a worker at the level `reduced` may read.

    The result is None if this machine cannot limit them.
    """
    from grader.sandbox import landlock

    try:
        seccomp.load("base")
    except OSError:
        return None
    return (*plan.view.folders(), *view.COPIED) if landlock.abi() else None


def _fork_confined(plan: LaunchPlan, keep: int | None) -> Launched | str:
    """Fork a process that enters the sandbox, and return `Launched` in the sandbox.

    The parent waits until that process ends, and exits. If the sandbox cannot be built, the parent returns the reason.

    Args:
        plan: the argument of `launch`.
        keep: the descriptor that the server keeps besides the standard streams; see `launch`.
    """
    # It closes without a word once the server runs. A word is a reason why it does not.
    read, report = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        try:
            return _launch_confined(plan, keep, report)
        except OSError as error:
            os.write(report, str(error).encode())
            os._exit(REFUSED)
    os.close(report)
    with os.fdopen(read, "rb") as pipe:
        said = pipe.read()
    os.waitpid(pid, 0)
    if said:
        return said.decode("utf-8", "replace")
    os._exit(0)  # the server has ended; the host waits for this process


def _launch_confined(plan: LaunchPlan, keep: int | None, report: int) -> Launched:
    """Build the sandbox; return only in the process that is process 1 in it.

    The sandbox has a file system and namespaces of its own.

    Args:
        plan: the argument of `launch`.
        keep: the descriptor that the server keeps besides the standard streams; see `launch`.
        report: the descriptor of the pipe for the reason of a failure; nothing is written to it here.
    """
    kernel.die_with_parent()
    # Kept from the outside: the new root is mounted over it, and measuring and mapping users need one.
    proc = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    os.chdir("/")
    # Tried before anything is built: without a filter for this processor all else would be in vain.
    seccomp.load("base")
    is_root = _may_mount()
    if is_root:
        # With root's rights, which may be needed to reach the interpreter.
        retry_while_out_of_namespaces(lambda: kernel.unshare(kernel.CLONE_NEWNS))
        stranger = _unprivileged_user()  # before /proc is covered
        view.build_root(plan.view)
        _change_to_user(stranger)
    # In a user namespace one has the rights to make the others.
    user, group = os.getuid(), os.getgid()
    retry_while_out_of_namespaces(lambda: kernel.unshare(kernel.CLONE_NEWUSER | _WORLD))
    kernel.map_user(proc, 0, user, group)
    if not is_root:
        view.build_root(plan.view)
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


def _may_mount() -> bool:
    """Return True if this process is root and may mount file systems.

    Root in a container often may not.
    """
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        effective = next((int(line.split()[1], 16) for line in file if line.startswith("CapEff")), 0)
    return os.geteuid() == 0 and bool(effective >> kernel.CAP_SYS_ADMIN & 1)


def _change_to_user(user: int) -> None:
    """Change to a user who has no files, and keep only the right to make namespaces."""
    os.setgroups([])  # root's further groups would open files to a stranger
    kernel.change_user(user)


def _unprivileged_user() -> int:
    """Return the id of a user who has no files and exists in this user namespace.

    It is 2,000,000,000, or the last id of the namespace if that has fewer users, as in some containers.
    """
    last = 0
    with open("/proc/self/uid_map", encoding="ascii") as file:
        for line in file:
            start, _, count = map(int, line.split())
            if start <= _STRANGER < start + count:
                return _STRANGER
            last = max(last, start + count - 1)
    return last


if __name__ == "__main__":
    main()
