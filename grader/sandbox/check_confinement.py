"""What a check process gives up before it reads a check: endless memory, sockets, other files.

A check is code of the course's author, and what it takes in comes from student code. Best effort: where the kernel does
not give a layer the process does without it, and `grade doctor` says what remains available. Only where workers are
forked, which is on Linux: a check process that spawns workers needs the rights to confine them.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from grader.sandbox import cgroup, kernel, landlock, seccomp
from grader.sandbox.probe_targets import open_probe_targets
from grader.sandbox.process import clean_environment, interpreter_paths, isolated_command
from grader.sandbox.start_messages import THREADS
from grader.sandbox.view import DEVICES, FileView

MEMORY_MB = 3072
"""With PyTorch, the replies to one check of the student and the reference, and what comparing them takes."""


_RIGHTS = (
    *(kernel.CAP_CHOWN, kernel.CAP_FOWNER, kernel.CAP_DAC_OVERRIDE, kernel.CAP_DAC_READ_SEARCH),
    kernel.CAP_KILL,
)
"""Root's rights on files, as Landlock allows, and on workers, which are of another user. With more of them it could
read other processes in spite of Landlock."""

REACH = ("memory", "network", "files", "processes")
"""The kinds of access that `reach_of_check_process` tries."""


def confine_check_process(
    groups: cgroup.ControlGroup | None, readable: Sequence[str], writable: Sequence[str]
) -> dict[str, str]:
    """Confine this process as far as the kernel allows.

    That confines its memory, network, rights, files and new sockets. The process must have one thread. The sockets that
    it has go on working.

    Args:
        groups: the control group in which this process makes one for itself, and later those of workers; None if it
            cannot.
        readable: folders of the course.
        writable: folders in which files may be written.

    Returns:
        A dict with the reason for each step that the kernel refused, such as
        `{"memory": "control groups cannot be written here"}`. Its keys are among `memory`, `network`, `rights`, `files`
        and `sockets`; it is empty if all steps were taken.
    """
    steps: dict[str, Callable[[], None]] = {
        "memory": lambda: _enter_group(groups),
        "network": _leave_network,
        "rights": lambda: kernel.keep_capabilities(*_RIGHTS),
        "files": lambda: _limit_files(groups, readable, writable),
        "sockets": _open_no_socket,
    }
    refused = {}
    for what, step in steps.items():
        try:
            step()
        except OSError as error:
            refused[what] = error.strerror or str(error)
    return refused


def _enter_group(groups: cgroup.ControlGroup | None) -> None:
    if groups is None:
        raise OSError(errno.EROFS, "control groups cannot be written here")
    # It stays locked as long as this process lives; whoever looks for groups that were left removes it then.
    groups.make(MEMORY_MB, THREADS).take_in(os.getpid())


def _leave_network() -> None:
    if os.geteuid() == 0:
        kernel.unshare(kernel.CLONE_NEWNET)
        return
    user, group = os.getuid(), os.getgid()
    kernel.unshare(kernel.CLONE_NEWUSER | kernel.CLONE_NEWNET)
    proc = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)
    try:
        kernel.map_user(proc, user, user, group)
    finally:
        os.close(proc)


def _limit_files(groups: cgroup.ControlGroup | None, readable: Sequence[str], writable: Sequence[str]) -> None:
    """Limit by Landlock the files that this process can read and write from now on."""
    if not landlock.abi():
        raise OSError(errno.ENOSYS, "this kernel has no Landlock, or does not let us use it")
    kernel.forbid_new_privileges()
    shown = [*FileView(tuple(interpreter_paths())).folders(), *readable, "/sys", "/etc"]
    places = [*writable, "/proc", *(f"/dev/{name}" for name in DEVICES)]
    places += [str(groups.memory), str(groups.pids)] if groups is not None else []
    # pytest lists each folder from the one that all check files have in common.
    listed = [os.path.commonpath(readable)] if readable else []
    # It removes its own folder at the end, if the host was killed.
    left = [os.path.dirname(folder) for folder in writable]
    # Signals are not kept in: it stops workers while others are timed.
    rules = landlock.make_ruleset(shown, places, listed, left, scoped=False)
    landlock.apply(rules)
    os.close(rules)


def _open_no_socket() -> None:
    # Landlock keeps it from sockets in folders only since Linux 7.1, and a container may refuse a network of its own.
    kernel.forbid_new_privileges()
    seccomp.apply(seccomp.load("check"))


def reach_of_check_process() -> dict[str, str]:
    """Start a process that is confined as a check process, and return what it can reach.

    `grade doctor` prints this.

    Returns:
        A dict from each kind in `REACH` to what the process can reach, in words. For example, `network` may be
        "nothing", and `memory` "3072 MiB".
    """
    with open_probe_targets() as targets:
        command = isolated_command("grader.sandbox.check_confinement", *map(str, targets))
        ran = subprocess.run(command, env=clean_environment(), capture_output=True, text=True, check=False)
    if ran.returncode:
        return dict.fromkeys(REACH, f"it could not be tried: {ran.stderr.strip()[-200:]}")
    found: dict[str, str] = json.loads(ran.stdout)
    return found


def main() -> None:
    """Confine this process, try what it can still reach, and print that as JSON."""
    folder, file, port, name, scratch = sys.argv[1:]
    groups = cgroup.find()
    if groups is not None:
        groups.remove_orphaned_groups()
    refused = confine_check_process(groups, [], [scratch])
    why = {what: f" ({reason})" for what, reason in refused.items()}
    os.chdir(folder)  # the address of a Unix socket has room for few characters
    sockets: dict[str, Sequence[Callable[[], object]]] = {
        "ports of this machine and of others": [functools.partial(_connect, socket.AF_INET, ("127.0.0.1", int(port)))],
        "abstract Unix sockets": _attempts_to_reach("\0" + name),
        "Unix sockets in folders, as of a session bus or a container engine": _attempts_to_reach(name),
    }
    reached = [what for what, ways in sockets.items() if any(map(_is_permitted, ways))]
    every = "every file of this user's"
    reads = (
        every
        if _is_permitted(Path(file).read_bytes)
        else "the interpreter, its packages, the course, /proc, /sys, /etc"
    )
    writes = every if _is_permitted(lambda: open(file, "ab").close()) else "its own folder for temporary files"
    # Landlock does not cover these.
    more = "; changes their times and modes" if _is_permitted(lambda: os.utime(file)) else ""
    host = os.getppid()
    reach: dict[str, Callable[[], object]] = {
        "sees": lambda: os.stat(f"/proc/{host}"),
        "signals": lambda: os.kill(host, 0),
    }
    reach["reads"] = Path(f"/proc/{host}/environ").read_bytes
    others = [what for what, action in reach.items() if _is_permitted(action)]
    remains = {
        "memory": "as much as there is" if "memory" in refused else f"{MEMORY_MB} MiB",
        "network": "; ".join(reached) + why.get("network", "") + why.get("sockets", "") if reached else "nothing",
        "files": f"reads {reads}; writes {writes}; sees which files exist{more}",
        "processes": f"{', '.join(others)} this user's processes" if others else "none but its own",
    }
    remains["memory"] += why.get("memory", "")
    remains["files"] += why.get("files", "")
    json.dump(remains, sys.stdout)


def _attempts_to_reach(name: str) -> list[Callable[[], object]]:
    """Return two functions that raise `OSError` unless they reach a Unix socket.

    One of them connects, and the other sends without a connection.

    Args:
        name: the name of the socket in the working folder; that of an abstract socket begins with a null character.
    """
    return [functools.partial(_connect, socket.AF_UNIX, name), functools.partial(_send_from_pair, name)]


def _send_from_pair(name: str) -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with ours, theirs:
        ours.sendto(b"", name)


def _connect(family: int, address: tuple[str, int] | str) -> None:
    with socket.socket(family, socket.SOCK_DGRAM if family == socket.AF_UNIX else socket.SOCK_STREAM) as sock:
        sock.settimeout(1)
        sock.connect(address)


def _is_permitted(action: Callable[[], object]) -> bool:
    """Try an action; return whether the kernel permits it."""
    with contextlib.suppress(OSError):
        action()
        return True
    return False


if __name__ == "__main__":
    main()
