"""Probes: code of ours that runs beside student code. What it reports is a claim."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from grader.remote.side import Side
from grader.remote.student import RemoteFunction


class Probe:
    """The functions of an exercise's probe file, run in the student's worker.

    Their first argument is usually `student.something`, which arrives there as the function itself.
    """

    __slots__ = ("_name", "_path", "_side")

    def __init__(self, side: Side, path: Path) -> None:
        self._side = side
        self._path = path
        self._name = path.stem

    def __getattr__(self, name: str) -> RemoteFunction:
        """A function of the probe file."""
        # Sent at the first use, and once more after a lost worker; `Side` knows which worker has it.
        self._side.load_probe(self._name, self._path.read_text(encoding="utf-8"))
        return RemoteFunction(self._side, name, f"probe:{self._name}")


def built_in(
    function: RemoteFunction, name: str, values: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """What a probe of our own reports of one call; the call is noted as the student's.

    Args:
        function: a function of the student's.
        name: of the probe.
        values: what the probe takes after the function.
        args: of the call.
        kwargs: of the call.
    """
    side = side_of_function(function, name)
    side.called.add(str(function))
    # The lines that reproduce a failure are for students: they tell of the student's function, not of a probe.
    if side.recording:
        function.note(args, kwargs)
    return side.call(RemoteFunction(side, name, "probe:"), (function, *values), {}, function.what)


def side_of_function(function: Any, name: str) -> Side:
    """The side whose function it is.

    Raises:
        TypeError: it is no such function.
    """
    if not isinstance(function, RemoteFunction):
        raise TypeError(f"{name} wants a function of the student's, such as student.total")
    return function.side
