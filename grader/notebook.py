"""`from grader.notebook import check, pack`: grade in a notebook, and hand in what its cells have.

This part lives in the student's own kernel. It has no check, no reference and no score. Student code imports it and may
change all of it: what it shows is for the student, and decides no points.
"""

from __future__ import annotations

import html
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from typing import IO, Any, cast

from grader.sandbox.child import end, tail
from grader.sandbox.process import isolated_command

_NO_KERNEL = "{}() is for notebooks; at a prompt or in a script run  {}  in a terminal"
_GONE = "the grader stopped: {}; run the cell again"


def check(name: str = "", course: str | os.PathLike[str] | None = None) -> None:
    """Grade an exercise as the cells that ran until now solve it, and show the report below this cell.

    Args:
        name: the exercise's name or number, as for `grade`; without one, all exercises of which a function is defined.
        course: the folder of its course; by default the course of the working folder, or the course that comes with
            the grader.
    """
    _request("check", str(name), course, waiting=f"Checking {name or 'all'} ...", typed=f"grade {name}".strip())


def pack(handin: str = "", course: str | os.PathLike[str] | None = None, *, force: bool = False) -> None:
    """Pack what you hand in into one zip beside the notebook, and show a receipt below this cell.

    The cells that ran until now count; for an exercise that no cell solves, its file in the course's folder does.

    Args:
        handin: the id of the hand-in, which is needed only if the course has several.
        course: the folder of the course; by default as for `check`.
        force: pack also if an exercise is missing or does not load.
    """
    typed = f"grade pack{' --handin ' if handin else ''}{handin}"
    _request("pack", str(handin), course, waiting="Packing ...", typed=typed, force=force)


def _request(
    what: str, name: str, course: str | os.PathLike[str] | None, *, waiting: str, typed: str, force: bool = False
) -> None:
    """Send a request with the cells to the grader's process, and show its answer.

    The answer is shown below this cell. Without IPython, print which command to run in a terminal instead.

    Args:
        what: the function that is called: "check" or "pack".
        name: the name of an exercise, or the id of a hand-in; "" if the student named none.
        course: the folder of the course; None to find it.
        waiting: the text to show until the answer comes.
        typed: the command that does the same in a terminal.
        force: True to pack also if an exercise is missing or does not load.
    """
    shell = _shell()
    if shell is None:
        print(_NO_KERNEL.format(what, typed))  # noqa: T201  there is nothing else to show it in
        return
    from IPython.display import display

    shell.events.register("post_run_cell", _on_run)  # where it was not when this was imported; twice does no harm
    request = {
        "what": what,
        "force": force,
        "name": name,
        "course": None if course is None else os.path.abspath(os.fspath(course)),
        "folder": os.getcwd(),
        "cells": _cells(shell),
        "names": [key for key in shell.user_ns if key not in shell.user_ns_hidden],
    }
    show = cast(Any, display)  # IPython has no types
    # The place below the cell, where one thing is shown after another.
    place = show(_bundle(waiting), raw=True, display_id=True)

    def wait(running: str) -> None:
        if hasattr(shell, "kernel"):  # a prompt cannot take back what it has printed
            place.update(_bundle(f"{waiting} {running}"), raw=True)

    try:
        answer = _ask(request, wait)
    except KeyboardInterrupt:
        _drop_process()
        answer = {"error": "interrupted"}
    except (OSError, ValueError) as error:
        _drop_process()
        answer = {"error": _GONE.format(error)}
    place.update(_bundle(answer.get("text") or f"grade: {answer['error']}", answer.get("html")), raw=True)


def _shell() -> Any:
    """Return the IPython shell of this process, or None."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None


def _bundle(text: str, as_html: str | None = None) -> dict[str, str]:
    return {"text/plain": text, "text/html": as_html or f"<pre>{html.escape(text)}</pre>"}


_seen: dict[int, tuple[bool, str | None]] = {}
"""By number, whether a cell that ran failed, and its id. The kernel's history lacks both; they are seen from now on."""


def _on_run(result: Any) -> None:
    if result.execution_count is not None and result.info is not None:
        _seen[result.execution_count] = (not result.success, getattr(result.info, "cell_id", None))


def _cells(shell: Any) -> list[dict[str, Any]]:
    """Return the cells that ran, in order.

    Each is a dict such as `{"number": 1, "source": "x = 1", "failed": False, "id": None}`; the id is None where it is
    not known. The source is what the student typed, magics included, as it is saved in the notebook.
    """
    rows = []
    for number, source in enumerate(shell.history_manager.input_hist_raw):
        failed, id = _seen.get(number, (False, None))  # what is running now has no result yet
        rows.append({"number": number, "source": str(source), "failed": failed, "id": id})
    return rows


@cache
def _grader_process() -> tuple[subprocess.Popen[bytes], IO[bytes]]:
    """Start the process that grades, once, and return it and its log. It stays until this process ends."""
    log = tempfile.TemporaryFile()  # noqa: SIM115  closed with the process
    process = subprocess.Popen(
        isolated_command("grader.student.notebook"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        start_new_session=True,  # an interrupt of the kernel is ours to hand on
    )
    return process, log


def _ask(request: dict[str, Any], wait: Callable[[str], None]) -> dict[str, str]:
    """Send a request to the process that grades, and return its answer.

    Args:
        request: the request, with the cells to grade.
        wait: a callback, which is called with a text on what is running, until the answer comes.

    Raises:
        OSError: the process has ended.
        ValueError: it did not answer.
    """
    process, log = _grader_process()
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(request).encode() + b"\n")
    process.stdin.flush()
    while line := process.stdout.readline():
        answer: dict[str, str] = json.loads(line)
        if "waiting" not in answer:
            return answer
        wait(answer["waiting"])
    raise ValueError(tail(log))


def _drop_process() -> None:
    """Interrupt the process that grades for this kernel, and wait until it has ended.

    The next request starts another one.
    """
    if _grader_process.cache_info().currsize:
        process, log = _grader_process()
        # An interrupt, so that it leaves nothing behind; a system without interrupts ends it.
        process.send_signal(signal.SIGTERM if sys.platform == "win32" else signal.SIGINT)
        end(process)
        for stream in filter(None, (process.stdin, process.stdout, log)):
            stream.close()
    _grader_process.cache_clear()


if (_here := _shell()) is not None:
    _here.events.register("post_run_cell", _on_run)  # from now on, and not from the first check on
