"""Probes run beside student code, in its worker: an exercise's own, from its probe file, and those of ours.

What a probe returns is untrusted, like everything that comes from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from grader.connection.connection import Connection
from grader.connection.proxy import Proxy, connection_of, is_proxy, named


class Probe:
    """The functions of an exercise's probe file.

    Args:
        connection: the student's.
        path: of the file.
    """

    __slots__ = ("_connection", "_path")

    def __init__(self, connection: Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """A function of the probe file."""
        return partial(self._run, name)

    def _run(self, name: str, /, *args: Any, **kwargs: Any) -> Any:
        """Run one in the worker of the objects that it is given; without any, in the student's.

        Raises:
            TypeError: it is given objects of two workers.
        """
        proxies = list(_proxies([*args, *kwargs.values()]))
        connections = {id(each): each for each in map(connection_of, proxies)}
        if len(connections) > 1:
            raise TypeError(
                f"the probe `{name}` is given objects of the student's and of the reference's, which live in two "
                "processes; call it once for each"
            )
        connection = next(iter(connections.values()), self._connection)
        space = connection.load_probe(self._path.stem, self._path.read_text(encoding="utf-8"))
        # A probe around a student's function is noted, and named in messages, as that function.
        probe = named(connection, name, space)
        called = args[0] if args and is_proxy(args[0]) else probe
        connection.note_call(called, args if called is probe else args[1:], kwargs)
        return connection.call(probe, args, kwargs, called)


def _proxies(value: Any) -> Iterator[Proxy]:
    """What lives in a worker, of arguments."""
    if is_proxy(value):
        yield value
    elif isinstance(value, (list, tuple, set, frozenset)):
        for item in value:
            yield from _proxies(item)
    elif isinstance(value, dict):
        yield from _proxies([*value, *value.values()])


def own_probe(
    function: Proxy, name: str, values: Sequence[Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], ranks: int = 1
) -> Any:
    """What a probe of ours returns that calls a function; the call is noted as the student's.

    Args:
        function: lives in a worker.
        name: of the probe.
        values: what the probe takes besides the function.
        args: of the call.
        kwargs: those by name.
        ranks: how many ranks call it at the same time.
    """
    connection = connection_of(function)
    connection.note_call(function, args, kwargs, ranks)
    return connection.call(named(connection, name, ""), (function, *values), {}, function)
