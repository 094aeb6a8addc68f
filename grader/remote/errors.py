"""Classes of exceptions that a student wrote, as a check catches them: `pytest.raises(student.MyError)`.

Python wants a class of its own kind there. So each has one here, below the classes that it derives from. Nothing else
of it is here: what is asked of the class is asked in the worker.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grader.remote.classes import public_class
from grader.remote.handle import Handle, ask
from grader.wire.handles import is_remote
from grader.wire.raised_rows import KindRow

_PUBLIC = ("builtins.", "torch.", "numpy.", "json.")
_MOST_KINDS = 200


class _Kind(type):
    """The class of such classes: calls and attributes go to the worker."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """An exception of the student's, which stays in the worker."""
        return type.__getattribute__(cls, "_remote")(*args, **kwargs)

    def __getattr__(cls, name: str) -> Any:
        """An attribute of the student's class."""
        if name == "_remote" or name.startswith("__"):
            raise AttributeError(name)
        return getattr(cls._remote, name)

    def __instancecheck__(cls, instance: Any) -> bool:
        """Of what was raised here, its class tells; of what lives in the worker, the worker does."""
        return isinstance(instance, cls._remote) if is_remote(instance) else type.__instancecheck__(cls, instance)


def _attribute(error: BaseException, name: str) -> Any:
    """An attribute of an exception that was raised in the worker, where it still is."""
    remote = error.__dict__.get("_object")
    if name.startswith("__") or not is_remote(remote):
        raise AttributeError(name)
    return getattr(remote, name)


class Errors:
    """The classes of one worker's module.

    Attributes:
        classes: of what has a name in it, and was asked about: names of its classes.
    """

    def __init__(self) -> None:
        self._kinds: dict[str, type[Exception]] = {}
        self.classes: dict[str, tuple[str, ...]] = {}

    def named(self, remote: Handle) -> type[Exception]:
        """What stands for a class of exceptions of the student's."""
        family = KindRow.family(ask(remote, "family"))
        kind = self.kind(family)
        assert kind is not None
        type.__setattr__(kind, "_remote", remote)
        return kind

    def kind(self, family: Sequence[KindRow]) -> type[Exception] | None:
        """What stands for a class, the last of its family; None for a builtin one.

        Args:
            family: the class and those that it derives from, as the worker told them; those that others derive from
                come first.
        """
        found: type[Exception] | None = None
        for name, bases in family:
            if name not in self._kinds:
                if len(self._kinds) >= _MOST_KINDS:
                    return None
                self._kinds[name] = public_error(name) or self._made(name, bases)
            found = self._kinds[name]
        return found

    def _made(self, name: str, bases: Sequence[str]) -> type[Exception]:
        known = [self._kinds.get(base) or public_error(base) for base in bases]
        above = tuple(base for base in known if base is not None) or (Exception,)
        word = name.rsplit(".", 1)[-1]
        space = {"__module__": "student", "__getattr__": _attribute}
        try:
            kind = _Kind(word if word.isidentifier() else "Error", above, space)
        except TypeError:  # no class of Python's can derive from all of them
            kind = _Kind("Error", (Exception,), space)
        return kind  # type: ignore[return-value]  # all of them derive from Exception


def public_error(name: str) -> type[Exception] | None:
    """A class of exceptions of Python's or PyTorch's, by its name and that of its module."""
    found = public_class(name) if name.startswith(_PUBLIC) else None
    return found if found is not None and issubclass(found, Exception) else None
