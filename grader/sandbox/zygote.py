"""`python -m grader.sandbox.zygote FD`: the zygote, which imports PyTorch and NumPy once for all processes of a run.

host -- zygote           torch, NumPy, and what workers need of our packages
          +-- launcher   enters namespaces, builds the root: see `launch`
          |     +-- worker server -- workers
          +-- template   torch, NumPy, pytest, and what check processes need
                +-- check process, check process, ...

Neither of the two reads anything of a course. The template is forked before the zygote imports what is for workers
alone, so that no worker comes from a process with pytest in it, and no check process from one that was prepared for
student code. Both have one thread: what is forked is prepared after the fork as a process that was executed would be.

The host speaks with it over a Unix socket, in one datagram for each of `sandbox.messages`. With each request comes a
socket for what follows: the zygote answers there with a pidfd, and what it forked is killed if nobody hears that.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import selectors
import signal
import socket
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from grader.sandbox import kernel, launch, messages
from grader.sandbox.messages import receive, send

_IMPORTED = ("torch", "numpy", "numpy.random", "numpy.linalg", "torch.autograd.gradcheck", "torch.nn.functional")
"""Once for all. What honest code needs of these packages and they import only when it is used is among it."""

_WORKER_SERVER = "grader.worker.server"
_LIBRARIES = "grader.worker.with_torch"
_SLOW_IMPORTS = "grader.sandbox.slow_imports"
_CHECK_PROCESS = "grader.session.forked"
"""By name: the sandbox imports none of them."""

_NULL, _OUTPUT, _ERRORS = range(3)


def main() -> None:
    """Import; then fork what the host asks for until it closes its socket."""
    gc.disable()  # see `grader.worker.__main__`
    for name in _IMPORTED:
        importlib.import_module(name)
    sys.modules["torch"].set_num_threads(1)
    # Before `gc.freeze`, from which on the garbage collector does not find what this looks for.
    importlib.import_module(_SLOW_IMPORTS).leave_slow_imports_out()
    gc.freeze()  # or the first collection in a child would write to every page that an object of ours is on
    # Before the first fork and never again: what is collapsed later would be a copy, and no longer shared.
    kernel.collapse_pages(None)
    if threads := os.listdir("/proc/self/task")[1:]:
        sys.exit(f"{len(threads)} threads were started by an import; a process with threads cannot be forked safely")
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    host = socket.socket(fileno=int(sys.argv[1]))
    if os.fork() == 0:
        launch.run_and_exit(lambda: _be_the_template(theirs))
    theirs.close()
    libraries = importlib.import_module(_LIBRARIES).WithTorch()
    importlib.import_module(_WORKER_SERVER).prepare(libraries)
    gc.freeze()
    gc.enable()
    Forks("grade-zygote", host, ours, libraries).serve()
    os._exit(0)


def _be_the_template(requests: socket.socket) -> None:
    """Import what check processes need; fork them until the zygote is gone."""
    kernel.die_with_parent()
    kernel.take_small_pages()  # or a few bytes that are written cost a copy of 2 MB
    kernel.close_all_but(requests.fileno())
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"  # it reads its messages with pydantic
    importlib.import_module(_CHECK_PROCESS)
    gc.freeze()
    gc.enable()
    Forks("grade-template", requests).serve()


class Forks:
    """A process that forks others on request.

    Args:
        name: under which `ps` lists it.
        host: whence requests come; when it closes, all is over.
        template: who forks check processes; None if this is the one.
        libraries: what workers have.
    """

    def __init__(
        self, name: str, host: socket.socket, template: socket.socket | None = None, libraries: Any = None
    ) -> None:
        self._libraries = libraries
        self._host = host
        self._template = template
        self._children: dict[int, int] = {}  # pidfd → pid
        self._selector = selectors.PollSelector()  # without a descriptor of its own
        kernel.set_name(name)

    def serve(self) -> None:
        """Answer requests and reap children until the host is gone."""
        self._selector.register(self._host, selectors.EVENT_READ)
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is self._host:
                    message, descriptors = receive(self._host)
                    if message is None:
                        return
                    self._answer(message, descriptors)
                else:
                    self._reap(key.fd)

    def _answer(self, message: messages.Message, descriptors: list[int]) -> None:
        """Fork what is wanted, or hand the request on to the template."""
        try:
            if isinstance(message, messages.StartServer):
                self._fork(descriptors, lambda given: _be_a_worker_server(message.plan, self._libraries, *given))
            elif isinstance(message, messages.StartCheckProcess) and self._template is not None:
                with contextlib.suppress(OSError):  # it is gone: whoever waits sees the socket close
                    send(self._template, message, descriptors)
            elif isinstance(message, messages.StartCheckProcess):
                self._fork(descriptors, lambda given: _be_a_check_process(*given))
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

    def _fork(self, descriptors: list[int], action: Callable[[list[int]], None]) -> None:
        answer = socket.socket(fileno=os.dup(descriptors[0]))
        try:
            pid = os.fork()
        except OSError as error:
            with contextlib.suppress(OSError):
                send(answer, messages.Refused(str(error)))
            answer.close()
            return
        if pid == 0:
            answer.detach()
            launch.run_and_exit(lambda: self._become(descriptors, action))
        pidfd = os.pidfd_open(pid)
        self._children[pidfd] = pid
        self._selector.register(pidfd, selectors.EVENT_READ)
        try:
            send(answer, messages.Forked(pid), [pidfd])
        except OSError:  # nobody waits for it any more
            os.kill(pid, signal.SIGKILL)
        answer.close()

    def _become(self, descriptors: list[int], action: Callable[[list[int]], None]) -> None:
        # Were these objects collected in the child, they would close descriptors that are somebody else's by then.
        self._host.detach()
        if self._template is not None:
            self._template.detach()
        os.setsid()
        _, log, *given = descriptors
        null = os.open(os.devnull, os.O_RDONLY)
        for descriptor, stream in ((null, _NULL), (log, _OUTPUT), (log, _ERRORS)):
            os.dup2(descriptor, stream)
        kernel.close_all_but(*given)
        action(given)

    def _reap(self, pidfd: int) -> None:
        self._selector.unregister(pidfd)
        os.close(pidfd)
        os.waitpid(self._children.pop(pidfd), 0)


def _be_a_worker_server(plan: messages.LaunchPlan, libraries: Any, host: int) -> None:
    """Enter the sandbox of the workers, and serve there."""
    kernel.set_name("grade-launcher")
    # When the zygote ends, all ends with it. The launcher keeps what it was given.
    kernel.die_with_parent()
    server = importlib.import_module(_WORKER_SERVER)
    launch.launch(plan, lambda launched: server.run(host, launched, libraries), keep=host)


def _be_a_check_process(channel: int, *servers: int) -> None:
    """Speak with the host over the standard streams, as a check process does that was executed."""
    kernel.set_name("grade-check")
    for stream in (_NULL, _OUTPUT):
        os.dup2(channel, stream)
    os.close(channel)
    tempfile.tempdir = None  # where an import asked for it, the folder was another one
    sys.modules["numpy"].random.seed()  # each from the system's entropy, as in a process that imports it
    importlib.import_module(_CHECK_PROCESS).run(servers)


if __name__ == "__main__":
    main()
