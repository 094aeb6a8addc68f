"""`from grader.notebook import check`: an exercise graded in a notebook; this part lives in the student's own kernel.

It has no check, no reference and no score. Student code imports it and may change all of it: what it shows is for the
student, and decides no points.
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
from dataclasses import dataclass
from functools import cache
from typing import IO, Any

from grader.sandbox.process import end, isolated, tail

_NO_KERNEL = "check() is for notebooks; at a prompt or in a script run  grade {}  in a terminal"
_GONE = "the grader stopped: {}; run the cell again"
_NO_NAME = (
    'say which exercise: check("predict_strides"), by its name or its number;  grade list  in a terminal shows all'
)


def check(name: str = "", course: str | os.PathLike[str] | None = None) -> None:
    """Grade an exercise as the cells that ran until now solve it, and show the report below this cell.

    Args:
        name: the exercise's name or number, as for `grade`.
        course: the folder of its course; by default the course of the working folder, or the course that comes with
            the grader.
    """
    shell = _shell()
    if not name:
        print(_NO_NAME)  # noqa: T201  it is the answer, in a kernel and elsewhere
        return
    if shell is None:
        print(_NO_KERNEL.format(name))  # noqa: T201  there is nothing else to show it in
        return
    request = {
        "name": str(name),
        "course": None if course is None else os.path.abspath(os.fspath(course)),
        "folder": os.getcwd(),
        "cells": _runs(shell).cells(),
        "names": [key for key in shell.user_ns if key not in shell.user_ns_hidden],
    }
    # A prompt cannot take back what it has printed.
    place = _Place(f"Checking {name} ...", changes=hasattr(shell, "kernel"))
    try:
        place.show(_process().ask(request, place.wait))
    except KeyboardInterrupt:
        _drop_process()
        place.show({"error": "interrupted"})
    except (OSError, ValueError) as error:
        _drop_process()
        place.show({"error": _GONE.format(error)})


def _shell() -> Any:
    """The IPython that this process runs, if it does."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None


class _Place:
    """The place below a cell where one thing is shown after another.

    Args:
        waiting: what is shown first.
        changes: whether what goes on is to be shown in between.
    """

    def __init__(self, waiting: str, *, changes: bool) -> None:
        from IPython.display import display

        show: Any = display  # IPython has no types
        self._handle = show(_bundle(waiting), raw=True, display_id=True)
        self._waiting = waiting
        self._changes = changes

    def wait(self, going_on: str) -> None:
        """Show what goes on."""
        if self._changes:
            self._handle.update(_bundle(f"{self._waiting} {going_on}"), raw=True)

    def show(self, answer: dict[str, str]) -> None:
        """Show an answer in the place of what was there."""
        text = answer.get("text") or f"grade: {answer['error']}"
        self._handle.update(_bundle(text, answer.get("html")), raw=True)


def _bundle(text: str, as_html: str | None = None) -> dict[str, str]:
    return {"text/plain": text, "text/html": as_html or f"<pre>{html.escape(text)}</pre>"}


class _Runs:
    """Which cells ran. The kernel's history lacks which cells failed, and their ids; these are seen from now on.

    Args:
        shell: the IPython of this process.
    """

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._seen: dict[int, tuple[bool, str | None]] = {}
        shell.events.register("post_run_cell", self._on_run)

    def _on_run(self, result: Any) -> None:
        if result.execution_count is not None and result.info is not None:
            self._seen[result.execution_count] = (result.success, getattr(result.info, "cell_id", None))

    def cells(self) -> list[dict[str, Any]]:
        """All that ran, in order, each with its number, its source, its id where that is known, and whether it failed.

        The source is IPython's own reading: magics and shell lines are calls of `get_ipython()` in it.
        """
        # What is running now has no result yet.
        sources = dict(enumerate(self._shell.user_ns.get("In", ())))
        rows = []
        for number, source in sources.items():
            success, id = self._seen.get(number, (True, None))
            rows.append({"number": number, "source": str(source), "failed": not success, "id": id})
        return rows


@cache
def _runs(shell: Any) -> _Runs:
    return _Runs(shell)


@dataclass(frozen=True)
class _Process:
    """The process of ours, which stays for the next request: it ends when this one is gone."""

    process: subprocess.Popen[bytes]
    log: IO[bytes]

    @classmethod
    def start(cls) -> _Process:
        """Start it."""
        log = tempfile.TemporaryFile()  # noqa: SIM115  closed with the process
        process = subprocess.Popen(
            isolated("grader.student.notebook"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,  # an interrupt of the kernel is ours to hand on
        )
        return cls(process, log)

    def ask(self, request: dict[str, Any], wait: Callable[[str], None]) -> dict[str, str]:
        """Its answer; until it comes, `wait` receives what is running.

        Raises:
            OSError: the process has ended.
            ValueError: it gave no answer.
        """
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        while line := self.process.stdout.readline():
            answer: dict[str, str] = json.loads(line)
            if "waiting" not in answer:
                return answer
            wait(answer["waiting"])
        raise ValueError(tail(self.log))

    def close(self) -> None:
        """End it."""
        # An interrupt, so that it leaves nothing behind; where there is none, it is ended.
        self.process.send_signal(signal.SIGTERM if sys.platform == "win32" else signal.SIGINT)
        end(self.process)
        for stream in (self.process.stdin, self.process.stdout, self.log):
            if stream is not None:
                stream.close()


@cache
def _process() -> _Process:
    return _Process.start()


def _drop_process() -> None:
    """End the process at once; the next request gets another one."""
    if _process.cache_info().currsize:
        _process().close()
    _process.cache_clear()


if (_here := _shell()) is not None:
    _runs(_here)  # from now on, and not from the first check on
