"""`python -m grader.sandbox.zygote FD [stays] [soon]`: imports PyTorch and NumPy once for all processes.

host -- zygote           torch, NumPy, and what workers need of our packages
          +-- launcher   enters namespaces, builds the root: see `launch`
          |     +-- worker server -- workers
          +-- template   torch, NumPy, pytest, and what check processes need
                +-- check process, check process, ...

Neither of the two reads anything of a course. The template is forked before the zygote imports what is for workers
alone, so that no worker comes from a process with pytest in it, and no check process from one that was prepared for
student code. Both have one thread: what is forked is prepared after the fork as a process that was executed would be.

The host speaks with it over a Unix socket, in one datagram for each of `sandbox.start_messages`. With each request
comes a socket for what follows: the zygote answers there with a pidfd, and what it forked is killed if nobody hears
that. It ends with its host, or, with `fork_messages.Stay`, takes calls of further hosts of the same user for a while.
"""

from __future__ import annotations

import gc
import importlib
import os
import socket
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from typing import Any

from grader.sandbox import child, fork_messages, kernel, launch, start_messages
from grader.sandbox.datagrams import Message, receive
from grader.sandbox.forks import INPUT, OUTPUT, Beginning, ForkServer, Template

_IMPORTED = ("torch", "numpy", "numpy.random", "numpy.linalg", "torch.autograd.gradcheck", "torch.nn.functional")
"""Once for all. What honest code needs of these packages and they import only when it is used is among it."""

_WORKER_SERVER = "grader.worker.server"
_LIBRARIES = "grader.worker.with_torch"
_SLOW_IMPORTS = "grader.sandbox.slow_imports"
_CHECK_PROCESS = "grader.check_process.forked"
"""The module of the check process, by name: the sandbox imports none of our other packages."""


def main() -> Callable[[], None]:
    """Import what children need, then fork processes for hosts until all hosts are gone.

    Returns:
        The function that the caller calls next, when this frame is gone: in a forked process, its own main function.
    """
    gc.disable()  # see `grader.worker.__main__`
    for name in _IMPORTED:
        importlib.import_module(name)
    sys.modules["torch"].set_num_threads(1)
    # Before `gc.freeze`, from which on the garbage collector does not find what this looks for.
    importlib.import_module(_SLOW_IMPORTS).skip_slow_imports()
    gc.freeze()  # or the first collection in a child would write to every page that an object of ours is on
    stays, soon = ("stays" in sys.argv[2:], "soon" in sys.argv[2:])
    if threads := os.listdir("/proc/self/task")[1:]:
        sys.exit(f"{len(threads)} threads were started by an import; a process with threads cannot be forked safely")
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    host = socket.socket(fileno=int(sys.argv[1]))
    pid = os.fork()
    if pid == 0:
        child.run_and_exit(lambda: _become_template(theirs))
    theirs.close()
    libraries = importlib.import_module(_LIBRARIES).WithTorch()
    importlib.import_module(_WORKER_SERVER).prepare(libraries)
    if not soon:
        libraries.preload_devices()
    gc.freeze()
    gc.enable()
    # By a message: workers can read the words of the command.
    stay = receive(host)[0] if stays else None
    assert stay is None or isinstance(stay, fork_messages.Stay)
    kernel.set_name("grade-zygote")
    forks = ForkServer(
        [host],
        partial(_beginning_of, libraries),
        Template(pid, ours),
        stay,
        at_rest=partial(_take_postponed_steps, libraries) if soon else None,
    )
    # A package may have kept an exception of its import, which holds this frame; and every worker inherits it.
    del pid, ours, stay
    return forks.serve()


def _take_postponed_steps(libraries: Any) -> None:
    """Take the steps that were postponed so that the first command starts sooner.

    They make later forks faster.

    Args:
        libraries: the `WithTorch` of `grader.worker.with_torch` that workers inherit.
    """
    libraries.preload_devices()
    gc.freeze()
    kernel.collapse_pages(None)  # so that a fork copies less; what is forked divides them


def _beginning_of(libraries: Any, message: Message) -> Beginning | None:
    match message:
        case start_messages.StartServer(plan):
            return Beginning(partial(_start_worker_server, plan, libraries), ends_with_host=True)
        case start_messages.StartCheckProcess():
            return Beginning(_prepare_check_process)
    return None


def _become_template(requests: socket.socket) -> None:
    """Import what check processes need, then fork them on request until the zygote is gone."""
    kernel.die_with_parent()
    kernel.disable_huge_pages()  # or a few bytes that are written cost a copy of 2 MB
    kernel.close_all_but(requests.fileno())
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"  # it reads its messages with pydantic
    importlib.import_module(_CHECK_PROCESS)
    gc.freeze()
    gc.enable()
    kernel.set_name("grade-template")
    ForkServer([requests], partial(_beginning_of, None)).serve()()


def _start_worker_server(plan: start_messages.LaunchPlan, libraries: Any, host: int) -> Callable[[], None]:
    """Enter the sandbox of the workers; return the function that runs the worker server.

    Args:
        plan: the argument of `launch.launch`.
        libraries: the `WithTorch` of `grader.worker.with_torch` that workers inherit.
        host: the descriptor of the socket to the host.
    """
    kernel.set_name("grade-launcher")
    # When the zygote ends, all ends with it. The launcher keeps what it was given.
    kernel.die_with_parent()
    server = importlib.import_module(_WORKER_SERVER)
    return partial(server.run, host, launch.launch(plan, keep=host), libraries)


def _prepare_check_process(channel: int, *servers: int) -> Callable[[], None]:
    """Prepare this process as a check process; return its main function.

    Args:
        channel: the descriptor of its channel to the host, which becomes its standard input and output.
        servers: the descriptors of its sockets to worker servers.
    """
    kernel.set_name("grade-check")
    for stream in (INPUT, OUTPUT):
        os.dup2(channel, stream)
    os.close(channel)
    tempfile.tempdir = None  # where an import asked for it, the folder was another one
    sys.modules["numpy"].random.seed()  # each from the system's entropy, as in a process that imports it
    return partial(importlib.import_module(_CHECK_PROCESS).run, servers)


if __name__ == "__main__":
    child.run_and_exit(main())
