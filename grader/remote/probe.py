"""Probes: code of ours that runs beside student code. What it reports is a claim."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grader.remote.handle import side_of, what_of
from grader.remote.side import Side
from grader.remote.student import RemoteFunction, note, noted
from grader.wire.handles import Remote, is_remote


class Probe:
    """The functions of an exercise's probe file, run in the worker of what they are given.

    Their first argument is usually `student.something`, which arrives there as the function itself.
    """

    __slots__ = ("_name", "_path", "_side")

    def __init__(self, side: Side, path: Path) -> None:
        self._side = side
        self._path = path
        self._name = path.stem

    def __getattr__(self, name: str) -> ProbeFunction:
        """A function of the probe file."""
        return ProbeFunction(self._side, name, self._path)


class ProbeFunction:
    """A function of a probe file.

    Args:
        side: in whose worker it runs where no argument lives in another.
        name: of the function.
        path: of the file.
    """

    def __init__(self, side: Side, name: str, path: Path) -> None:
        self._side = side
        self._name = name
        self._path = path

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run it beside what it is given: a function of the reference's runs in the reference's worker.

        Raises:
            TypeError: it is given something of both.
        """
        sides = {id(side): side for side in map(side_of, _remotes([*args, *kwargs.values()]))}
        if len(sides) > 1:
            raise TypeError(
                f"the probe `{self._name}` is given what is the student's and what is the reference's, which live in "
                "two processes; call it once for each"
            )
        side = next(iter(sides.values()), self._side)
        # Sent at the first use, and once more after a lost worker; `Side` knows which worker has it.
        space = side.load_probe(self._path.stem, self._path.read_text(encoding="utf-8"))
        # A probe around a student's function is told, and noted, as that function.
        probe = RemoteFunction(side, self._name, space)
        called = args[0] if args and is_remote(args[0]) else probe
        note(called, noted(called, args[1:] if called is not probe else args, kwargs))
        return side.call(probe, args, kwargs, what_of(called))

    def __repr__(self) -> str:
        """Its name."""
        return self._name


def _remotes(value: Any) -> Iterator[Remote]:
    """What lives in a worker, of arguments."""
    if is_remote(value):
        yield value
    elif isinstance(value, (list, tuple, set, frozenset)):
        for item in value:
            yield from _remotes(item)
    elif isinstance(value, dict):
        yield from _remotes([*value, *value.values()])


def built_in(function: Remote, name: str, values: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a probe of our own reports of one call; the call is noted as the student's.

    Args:
        function: a function of the student's, or an object of a class of theirs that can be called.
        name: of the probe.
        values: what the probe takes after the function.
        args: of the call.
        kwargs: of the call.
    """
    side = side_of_function(function, name)
    # The lines that reproduce a failure are for students: they tell of the student's function, not of a probe.
    note(function, noted(function, args, kwargs))
    return side.own_probe(name, (function, *values), what_of(function))


def side_of_function(function: Any, name: str) -> Side:
    """The side whose function it is.

    Raises:
        TypeError: it is no such function.
    """
    if not is_remote(function) or not callable(function):
        raise TypeError(f"{name} wants a function of the student's, such as student.total")
    return side_of(function)
