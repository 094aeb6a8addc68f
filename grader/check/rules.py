"""Rules about what may be used, by the names that PyTorch gives it: only these, or all but those.

Each rule is looked at twice. The text of the submission is read in the check process, and never run: all that the
function comes to by name, with its helpers, whether it runs or not. And the function is called in the worker, where a
hook of PyTorch's tells what is used from the student's own lines, by whatever name it was reached; that is a claim.
What could hide from both, a name that is not written out or a way around the hook, is told as such.
"""

from __future__ import annotations

import functools
import re
import sys
import types
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from grader.check.mentions import METHOD, UNWRITTEN, Mention, Text
from grader.check.torch_names import FREE, Rule, canonical, is_of_torch, looked_up, names_of, told_as
from grader.model.endings import CheckFailed
from grader.model.public import say
from grader.remote.handle import Handle, side_of, word_of
from grader.remote.probe import built_in
from grader.remote.side import Side
from grader.wire.handles import origin_of

_HIDES = frozenset(
    (
        *("builtins.exec", "builtins.eval", "builtins.compile", "builtins.__import__", "builtins.globals"),
        *("builtins.vars", "builtins.locals", "builtins.__builtins__", "sys.modules", "sys._getframe"),
        *("importlib", "ctypes", "cffi", "gc", "inspect", "pickle", "marshal", "runpy", "code"),
        *("types.FunctionType", "types.CodeType", "types.LambdaType"),
        *("torch.ops", "torch.overrides", "torch.jit", "torch.hub", "torch.library", "torch.utils.cpp_extension"),
    )
)
"""What gets at a function without its name, or around the hook; with all that is in it."""

_HIDDEN_NAMES = frozenset(
    (
        *("__dict__", "__getattribute__", "__globals__", "__builtins__", "__code__", "__subclasses__", "__mro__"),
        *("__bases__", "__base__", "__loader__", "__closure__", "__torch_function__", "_C"),
    )
)
_OF_PYTHON = frozenset(
    name for kind in (str, bytes, list, tuple, dict, set, int, float, complex, slice, range) for name in dir(kind)
)
"""Methods that Python's own values have as well: of these the text does not tell whose is meant, and the hook does."""

_NAME = re.compile(r"\w{1,100}")


def uses_only(function: Handle, args: tuple[Any, ...], *allowed: Rule) -> None:
    """The function uses nothing of PyTorch's, nor of another package, but what is named.

    Always allowed are Python itself with its standard library, helpers of the student's own that keep to the same rule,
    and what only tells of a tensor: its shape, dtype, device.

    Args:
        function: a function of the student's.
        args: the arguments of the call in which it is watched.
        allowed: names such as "where" or "numpy.prod", functions such as torch.where, or groups of operators:
            `indexing`, `arithmetic`, `comparison`. A name is that of the function, of the method, and of its in-place
            form alike.

    Raises:
        CheckFailed: it uses something else.
        ValueError: there is nothing of such a name.
    """
    names = names_of(allowed)
    told = functools.reduce(lambda one, other: say("{}, {}", one, other), map(told_as, allowed))
    look = _Look(function)
    for use in look.uses(args):
        if use.name in FREE or use.name in names or use.is_of_python:
            continue
        public = say("`{}` uses more than the rule allows, which is only: {}", function, told)
        raise CheckFailed(public, look.story(use, f"{use.shown} is not among what the rule allows: {told}"))


def does_not_call(function: Handle, args: tuple[Any, ...], *left_out: Rule) -> None:
    """The function uses none of these, nor do its helpers.

    Args:
        function: a function of the student's.
        args: the arguments of the call in which it is watched.
        left_out: names such as "reshape" or "numpy.outer", functions such as torch.outer, or groups of operators. A
            name is that of the function, of the method, of its in-place form, and of whatever PyTorch calls its alias.

    Raises:
        CheckFailed: it uses one.
        ValueError: there is nothing of such a name.
    """
    rules = {name: told_as(rule) for rule in left_out for name in names_of([rule])}
    look = _Look(function)
    for use in look.uses(args):
        if (rule := rules.get(use.name)) is not None:
            public = say("`{}` uses `{}`; the rule is to do without", function, rule)
            also = "" if use.shown == rule else f" ({use.shown} is another name or form of it)"
            raise CheckFailed(public, look.story(use, f"it uses {rule}, and the rule is to do without{also}"))


@dataclass(frozen=True)
class _Use:
    """Something that is used.

    Attributes:
        name: as rules have it: PyTorch's without a module, others with it.
        shown: as the student wrote it, as far as that is known.
        file: of the submission, or "".
        line: in that file, or 0.
    """

    name: str
    shown: str
    file: str
    line: int

    @property
    def is_of_python(self) -> bool:
        """Whether it is Python's own."""
        return "." in self.name and self.name.split(".")[0] in sys.stdlib_module_names


class _Look:
    """What a function uses, by its text and by a call of it."""

    def __init__(self, function: Handle) -> None:
        self._function = function
        self._side: Side = side_of(function)
        self._side.names()  # a file that does not load is told as that
        self._files = self._side.sitting.files
        self._text = Text(self._files)

    def uses(self, args: tuple[Any, ...]) -> Iterator[_Use]:
        """All of them: those of the text first.

        Raises:
            CheckFailed: what is used cannot be told.
        """
        if self._text.unread:
            told = say("a file of yours nests too deeply to be read")
            raise CheckFailed(told, f"{told}: {self._text.unread}")
        module = self._side.sitting.module
        named = origin_of(self._function).name
        mentions = self._text.mentions(module, str(named[2]) if named is not None else "")
        for mention in (*mentions, *self._text.loose(module)):
            if way := _hides(mention):
                self._refuse(mention, way)
        for mention in mentions:
            if (use := self._use(mention)) is not None:
                yield use
        answer = built_in(self._function, "used", [list(args), {}], args, {})
        # A worker may say anything; what is no such thing is no answer.
        match answer:
            case [_, list() as rows] if all(isinstance(row, list) and len(row) == 3 for row in rows):
                yield from filter(None, map(self._claimed, rows))
                return
        raise CheckFailed(say("what `{}` uses could not be told", self._function))

    def _refuse(self, mention: Mention, way: str) -> None:
        public = say("`{}` gets at functions by a way that hides their names; write them out", self._function)
        use = _Use(way, way, mention.file, mention.line)
        raise CheckFailed(public, self.story(use, f"{way} hides which function is meant; write its name out"))

    def _use(self, mention: Mention) -> _Use | None:
        """A mention as a use; None if it is no function, or it may be the method of something else."""
        path = mention.path
        if path.startswith(METHOD):
            name = path.removeprefix(METHOD)
            doubtful = name in self._text.own or name in _OF_PYTHON or not is_of_torch(name)
            operator = name == "__matmul__" and name not in self._text.own
            if doubtful and not operator:
                return None
            return _Use(canonical(name), "@" if operator else f".{name}", mention.file, mention.line)
        if path.split(".")[0] != "torch":
            return _Use(path.removesuffix(".__call__"), path, mention.file, mention.line)
        found = looked_up(path)
        if not callable(found) or isinstance(found, (torch.dtype, types.ModuleType)):
            return None
        name = next(part for part in reversed(path.split(".")) if not part.startswith("__"))
        return _Use(canonical(name), path, mention.file, mention.line)

    def _claimed(self, row: Sequence[Any]) -> _Use | None:
        name, file, line = row
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            return _Use("another function", "another function", "", 0)
        files = [own for own in self._files if isinstance(file, str) and f"/{file}".endswith(f"/{own}")]
        place = (max(files, key=len), line) if files and type(line) is int else ("", 0)
        return _Use(canonical(name), name, *place)

    def story(self, use: _Use, why: str) -> str:
        """A failure in full, with the line."""
        head = f"`{word_of(self._function)}`: {why}"
        lines = self._files.get(use.file, b"").decode("utf-8", "replace").splitlines()
        if not 0 < use.line <= len(lines):
            return head
        folder = f"{self._side.sitting.folder}/" if self._side.sitting.folder not in ("", ".") else ""
        return f"{head}\n    {folder}{use.file}, line {use.line}\n        {lines[use.line - 1].strip()[:120]}"


def _hides(mention: Mention) -> str:
    """By what a mention hides which function is meant, or gets around the hook; or ""."""
    path = mention.path
    if path.startswith(UNWRITTEN):
        return f"`{path.removeprefix(UNWRITTEN)}` with a name that is not a text"
    parts = path.removeprefix(METHOD).split(".")
    if any(".".join(parts[:end]) in _HIDES for end in range(1, len(parts) + 1)) and not path.startswith(METHOD):
        return f"`{path.removeprefix('builtins.')}`"
    private = parts[0] == "torch" and any(re.match("_[^_]", part) for part in parts)
    return f"`{path.removeprefix(METHOD)}`" if private or _HIDDEN_NAMES.intersection(parts) else ""
