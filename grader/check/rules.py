"""Rules about what may be used, by the names that PyTorch gives it: only these, or all but those.

The text of the submission decides: all that the function leads to by name, with its helpers, whether it runs or not
(`text`). Python's operators are always allowed, except `@`, which is called "matmul".
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Iterator

import torch

from grader.check.evidence import reads_openly
from grader.check.text import Mention, text_of
from grader.check.torch_names import FREE, Rule, canonical, is_of_torch, looked_up, names_of, shown_as
from grader.connection.connection import Proxy, connection_of, named, place_of, word_of
from grader.connection.student import Student, connection_behind
from grader.model.endings import CheckFailed
from grader.model.public import say

_OF_PYTHON = frozenset(
    name for kind in (str, bytes, list, tuple, dict, set, int, float, complex, slice, range) for name in dir(kind)
)
"""Methods that Python's own values have as well: the text does not show whose is meant."""


def uses_only(function: Proxy, *allowed: Rule) -> None:
    """The function uses nothing of PyTorch's, nor of another package, but what is named.

    Always allowed are Python itself with its operators and its standard library, helpers of the student's own that keep
    the same rule, and what only describes a tensor: its shape, dtype, device.

    Args:
        function: a function of the student's.
        allowed: names such as "where", "matmul" or "numpy.prod", or functions such as torch.where. A name means the
            function, the method, and its in-place form.

    Raises:
        CheckFailed: it uses something else.
        ValueError: there is nothing of such a name.
    """
    names = names_of(allowed)
    listed = functools.reduce(lambda one, other: say("{}, {}", one, other), map(shown_as, allowed))
    for name, mention in _uses(function):
        if (
            mention.name[1:] in _OF_PYTHON
            or name in FREE
            or name in names
            or ("." in name and name.split(".")[0] in sys.stdlib_module_names)
        ):
            continue
        public = say("`{}` uses more than the rule allows, which is only: {}", function, listed)
        shown = mention.name.removeprefix("builtins.")
        raise CheckFailed(public, _story(function, mention, f"{shown} is not among what the rule allows: {listed}"))


def does_not_call(function: Proxy, *left_out: Rule) -> None:
    """The function uses none of these, nor do its helpers.

    Args:
        function: a function of the student's.
        left_out: names such as "reshape" or "numpy.outer", or functions such as torch.outer. A name means the
            function, the method, its in-place form, and all that PyTorch calls its aliases.

    Raises:
        CheckFailed: it uses one.
        ValueError: there is nothing of such a name.
    """
    rules = {name: shown_as(rule) for rule in left_out for name in names_of([rule])}
    for name, mention in _uses(function):
        if (rule := rules.get(name)) is not None:
            public = say("`{}` uses `{}`; the rule is to do without it", function, rule)
            also = (
                ""
                if mention.name.removeprefix("torch.") == rule
                else f" ({mention.name} is another name or form of it)"
            )
            why = f"it uses {rule}, and the rule is to do without it{also}"
            raise CheckFailed(public, _story(function, mention, why))


def imports_no(student: Student, *packages: str) -> None:
    """The student's files import none of these packages, nor contain what could import one unseen.

    Imports that never run count for nothing: those below `if __name__ == "__main__":` and `if TYPE_CHECKING:`.
    """
    connection = connection_behind(student)
    reads_openly(named(connection, ""))
    if (mention := text_of(connection.files, connection.module).imported(packages)) is not None:
        text = say("your file imports {}; the rule needs no help from there", mention.name)
        raise CheckFailed(text, f"{text} (line {mention.line})", from_text=True)


def _uses(function: Proxy) -> Iterator[tuple[str, Mention]]:
    """What a function uses, by the names of rules."""
    reads_openly(function)
    connection = connection_of(function)
    text = text_of(connection.files, connection.module)
    child = place_of(function).child
    for mention in text.mentions(str(child[2]) if child[0] == "name" else ""):
        if name := _name_of(mention, text.own):
            yield name, mention


def _name_of(mention: Mention, own: set[str]) -> str:
    """A mention by the name that rules have for it; "" if it is no function, or may be the method of something else."""
    name = mention.name
    if name.startswith("."):
        doubtful = name[1:] in own or not is_of_torch(name[1:])
        return canonical(name[1:]) if not doubtful or name == ".__matmul__" else ""
    if name.split(".")[0] != "torch":
        return name.removesuffix(".__call__") if not name.startswith("builtins.") else ""
    found = looked_up(name)
    if not callable(found) or isinstance(found, (torch.dtype, types.ModuleType)):
        return ""
    return canonical(next(part for part in reversed(name.split(".")) if not part.startswith("__")))


def _story(function: Proxy, mention: Mention, why: str) -> str:
    """A failure in full, with the line."""
    head = f"`{word_of(function)}`: {why}"
    connection = connection_of(function)
    line = text_of(connection.files, connection.module).line_of(mention)
    folder = f"{connection.folder}/" if connection.folder not in ("", ".") else ""
    return f"{head}\n    {folder}{mention.file}, line {mention.line}\n        {line}" if line else head
