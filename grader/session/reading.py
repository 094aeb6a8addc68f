"""What the text of a submission says, where a sentence for its author depends on that. It is read and never run."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

Function = ast.FunctionDef | ast.AsyncFunctionDef

# A file may have a million lines, and every check that fails asks for some of them: it is read once.
_read_once = lru_cache(maxsize=8)


@_read_once
def text_of(content: bytes) -> str:
    """A file as text."""
    return content.decode("utf-8-sig", "replace")


@_read_once
def lines_of(content: bytes) -> Sequence[str]:
    """The lines of a file."""
    return text_of(content).splitlines()


def is_stub(content: bytes, line: int) -> bool:
    """Whether a line is a `raise NotImplementedError` that a function always comes to, as a starter has it."""
    return any(
        statement.lineno <= line <= (statement.end_lineno or 0)
        for function in _functions(content)
        for statement in function.body
        if isinstance(statement, ast.Raise) and _raised_name(statement) == "NotImplementedError"
    )


def may_lack_return(files: Mapping[str, bytes], names: Iterable[str]) -> bool:
    """Whether one of these functions, or one that it names, can end without a `return` that gives something."""
    functions: dict[str, list[Function]] = {}
    for content in files.values():
        for function in _functions(content):
            functions.setdefault(function.name, []).append(function)
    seen, waiting = set[str](), list(names)
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        for function in functions.get(name, ()):
            if _falls_off(function):
                return True
            waiting += [node.id for node in ast.walk(function) if isinstance(node, ast.Name)]
            waiting += [node.attr for node in ast.walk(function) if isinstance(node, ast.Attribute)]
    return False


@_read_once
def _functions(content: bytes) -> Sequence[Function]:
    try:
        tree = ast.parse(text_of(content))
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return []
    return [node for node in ast.walk(tree) if isinstance(node, Function)]


def _raised_name(statement: ast.Raise) -> str:
    raised = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
    return raised.id if isinstance(raised, ast.Name) else ""


def _falls_off(function: Function) -> bool:
    inner = [node for node in ast.walk(function) if isinstance(node, (Function, ast.Lambda)) and node is not function]
    elsewhere = {id(node) for other in inner for node in ast.walk(other)}
    returns = [node for node in ast.walk(function) if isinstance(node, ast.Return) and id(node) not in elsewhere]
    return any(node.value is None for node in returns) or not _ends(function.body)


def _ends(statements: Sequence[ast.stmt]) -> bool:
    """Whether nobody comes out at the lower end of these."""
    return any(_leaves(statement) for statement in statements)


def _leaves(statement: ast.stmt) -> bool:
    match statement:
        case ast.Return() | ast.Raise():
            return True
        case ast.If(body=body, orelse=rest):
            return _ends(body) and _ends(rest)
        case ast.With(body=body) | ast.AsyncWith(body=body):
            return _ends(body)
        case ast.Try(body=body, handlers=handlers, orelse=rest, finalbody=last):
            tried = (_ends(body) or _ends(rest)) and all(_ends(handler.body) for handler in handlers)
            return tried or _ends(last)
        case ast.While(test=ast.Constant(value=value)):
            return bool(value) and not any(isinstance(node, ast.Break) for node in ast.walk(statement))
        case ast.Match(cases=cases):
            always = any(isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None for case in cases)
            return always and all(_ends(case.body) for case in cases)
    return False
