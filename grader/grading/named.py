"""What the sentence of a wrong answer names must stand in the code, where no wrong value shows the mistake.

That a result has another dtype, or that a function loops, can come about in many ways. A sentence which names one of
them in backticks, such as `torch.Tensor`, is printed only to whoever wrote that.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from grader.course.answers import Answer

_QUOTED = re.compile(r"`([^`]+)`")
_NAME = re.compile(r"[A-Za-z_]\w*")


def names_in(files: Mapping[str, bytes]) -> frozenset[str]:
    """The names that the code of a submission uses, also of attributes, of arguments by name and of modules."""
    return frozenset(name for text in files.values() for name in _names(text))


def named_by(answer: Answer, reference: Path | None) -> frozenset[str]:
    """What a wrong answer's sentence names of its own code, and what the reference does not use."""
    quoted = {name for text in _QUOTED.findall(answer.sentence) for name in _NAME.findall(text)}
    own = frozenset(quoted.intersection(_names(answer.source)))
    return own.difference(_names(reference.read_bytes()) if own and reference is not None else ())


def _names(source: bytes) -> Iterable[str]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.keyword(arg=str() as name):
                yield name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
                yield name
            case ast.alias(name=name):
                yield from name.split(".")
            case ast.ImportFrom(module=str() as name):
                yield from name.split(".")
