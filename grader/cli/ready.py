"""`python -m grader.cli.ready FD`: a process that has imported what a typed `grade` imports, and runs it in a fork.

It has read nothing of a course and runs no student code. `grader.runner.hand_over` has the words for the two of them.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import io
import locale
import os
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from grader.model.files import adapter
from grader.sandbox import fork_messages, kernel
from grader.sandbox.datagrams import Message, receive
from grader.sandbox.forks import ERRORS, INPUT, OUTPUT, Beginning, ForkServer

IMPORTED = (
    *("grader.cli.run", "grader.cli.grade", "grader.course.load", "grader.course.files", "grader.course.answers"),
    *("grader.grading.runtime", "grader.grading.diagnosis", "grader.grading.lanes", "grader.grading.schedule"),
    *("grader.grading.store", "grader.grading.secret", "grader.intake.collect", "grader.report.terminal"),
    *("grader.student.advice", "grader.student.folder", "grader.student.rows", "grader.report.progress_lines"),
    *("grader.cli.student", "grader.student.hints", "grader.student.list_page", "grader.student.task_page"),
)
"""With all that these import themselves."""

_INTERRUPT = (signal.SIGINT,)


def main() -> Callable[[], None]:
    """Keep `grade` imported in this process, and fork it for each command that arrives.

    So a command of the user's starts without the time that the imports take. This ends when no command has come for a
    while.

    Returns:
        In each forked process, the function that runs its command. The caller must call it after this function has
        returned.
    """
    # A fork that is interrupted before it can say so takes notice of that as soon as it can.
    signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPT)
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"  # as in `grade_here`
    for name in IMPORTED:
        importlib.import_module(name)
    from grader.course.files import CourseFile, ExerciseFile, RightEntry, TopicsFile, WrongEntry
    from grader.grading.lanes import setup_of
    from grader.grading.outcomes import Outcomes
    from grader.grading.store import machine_digest
    from grader.model import Outcome
    from grader.model.messages import Collected, Done
    from grader.student.folder import CourseProgress

    # What reads these is made when it is first used, which takes as long as importing a module.
    for kind in (CourseProgress, Outcomes, Collected, Outcome, Done):
        adapter(kind)
    for model in (CourseFile, ExerciseFile, TopicsFile, RightEntry, WrongEntry):
        model.model_rebuild()
    machine_digest(setup_of())  # of what a process is found by, too: it holds for each command that finds this one
    gc.freeze()  # or the first collection in a child would write to every page that an object of ours is on
    if threads := os.listdir("/proc/self/task")[1:]:
        sys.exit(f"{len(threads)} threads were started by an import; a process with threads cannot be forked safely")
    host = socket.socket(fileno=int(sys.argv[1]))
    stay, _ = receive(host)
    assert isinstance(stay, fork_messages.Stay)
    kernel.set_name("grade-ready")
    return ForkServer([host], _beginning_of, stay=stay).serve()


def _beginning_of(message: Message) -> Beginning | None:
    if isinstance(message, fork_messages.RunCommand):
        return Beginning(partial(_take_over, message), is_command=True)
    return None


def _take_over(typed: fork_messages.RunCommand, *descriptors: int) -> Callable[[], None]:
    """Give this fork the streams, folder and environment of the process that the user started.

    Args:
        typed: the command that the user typed, with the environment.
        *descriptors: the descriptors of standard input, output and error, of the folder, and of the lifeline, a socket
            that closes when the user's process ends.

    Returns:
        A function that runs the command.
    """
    *streams, folder, lifeline = descriptors
    for descriptor, stream in zip(streams, (INPUT, OUTPUT, ERRORS), strict=True):
        os.dup2(descriptor, stream)
        os.close(descriptor)
    os.fchdir(folder)
    os.close(folder)
    os.environ.clear()
    os.environ.update(typed.environment)
    # What Python reads of the environment when it starts, or once.
    locale.setlocale(locale.LC_CTYPE, "")
    time.tzset()
    tempfile.tempdir = None
    sys.stdin = _open_stream(INPUT, "r", typed.encoding, is_line_buffered=False)
    sys.stdout = _open_stream(OUTPUT, "w", typed.encoding, is_line_buffered=typed.is_line_buffered)
    sys.stderr = _open_stream(ERRORS, "w", typed.encoding, is_line_buffered=True)
    sys.argv = [typed.program, *typed.arguments]
    return partial(_run, typed, socket.socket(fileno=lifeline))


def _open_stream(descriptor: int, mode: str, encoding: str, *, is_line_buffered: bool) -> Any:
    raw: Any = open(descriptor, f"{mode}b", closefd=False)  # noqa: SIM115  as Python's own streams
    errors = {OUTPUT: "strict", INPUT: "strict", ERRORS: "backslashreplace"}[descriptor]
    return io.TextIOWrapper(raw, encoding=encoding, errors=errors, line_buffering=is_line_buffered)


def _run(typed: fork_messages.RunCommand, lifeline: socket.socket) -> None:
    """Run the user's command in this fork, and exit with its status.

    Args:
        typed: the command that the user typed.
        lifeline: a socket that closes when the user's process ends; the command is then ended, too.
    """
    threading.Thread(target=_terminate_when_closed, args=(lifeline,), daemon=True).start()
    from grader.cli import HANDED_OVER
    from grader.cli import main as grade
    from grader.report.console import errors_as_lines

    status: str | int | None = 0
    try:
        with errors_as_lines():
            signal.signal(signal.SIGINT, signal.default_int_handler)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _INTERRUPT)
            grade.main([*typed.arguments], prog_name=typed.program, obj=HANDED_OVER)
    except SystemExit as ended:
        status = ended.code
    sys.stdout.flush()
    sys.stderr.flush()
    if isinstance(status, int):
        # Python would now take apart what it has imported, which takes a tenth of the time.
        atexit._run_exitfuncs()
        os._exit(status)
    sys.exit(status)


def _terminate_when_closed(lifeline: socket.socket) -> None:
    """End this process when the process that the user started is gone.

    Args:
        lifeline: a socket, whose other end that process holds open while it runs.
    """
    lifeline.recv(1)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()()
