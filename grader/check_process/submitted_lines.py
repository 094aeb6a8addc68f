"""The lines of submitted files, and what their functions do in the end."""

from __future__ import annotations

import ast
import builtins
import functools
import re
import symtable
from collections.abc import Collection, Iterable, Mapping, Sequence

from grader.connection.raised import TracebackLine


def existing_lines(claimed: Iterable[TracebackLine], files: Mapping[str, bytes]) -> tuple[TracebackLine, ...]:
    """Return the lines of a worker's traceback that exist in the submitted files.

    Their text comes from these files.
    """
    lines = []
    # A worker names its lines by number; their text comes from what was handed in, so that none can be made up.
    for file, number, function, _ in claimed:
        content = files.get(file, b"")
        if 0 < number <= len(lines_of(content)):
            name = function if _has_word(content, function) else ""
            lines.append(TracebackLine(file, number, name, lines_of(content)[number - 1]))
    return tuple(lines)


Function = ast.FunctionDef | ast.AsyncFunctionDef

# A file may have a million lines, and every check that fails needs some of them: it is read once.
_read_once = functools.lru_cache(maxsize=8)


@_read_once
def text_of(content: bytes) -> str:
    """Return the text of a file, with a replacement character for each byte that is not UTF-8."""
    return content.decode("utf-8-sig", "replace")


@_read_once
def lines_of(content: bytes) -> Sequence[str]:
    """Return the lines of a file."""
    return text_of(content).splitlines()


@_read_once
def _has_word(content: bytes, word: str) -> bool:
    return bool(word) and re.search(rf"\b{re.escape(word)}\b", text_of(content)) is not None


def is_stub_line(content: bytes, line: int) -> bool:
    """Return whether a line is a `raise NotImplementedError` directly in a function's body.

    A starter has such lines.
    """
    return any(
        statement.lineno <= line <= (statement.end_lineno or 0)
        for function in _functions(content)
        for statement in function.body
        if isinstance(statement, ast.Raise) and statement.exc is not None
        if ast.unparse(statement.exc).split("(")[0] == "NotImplementedError"
    )


def is_empty_function(content: bytes, name: str) -> bool:
    """Return whether a function does nothing but return None, as a stub does.

    A stub has `pass`, `...`, a docstring, `return None`, or assigns None to a name and returns that.

    Args:
        content: the bytes of the file.
        name: the name of the function.
    """
    found = [function for function in _functions(content) if function.name == name]
    blank = set[str]()
    return bool(found) and all(_does_nothing(statement, blank) for statement in found[-1].body)


def _does_nothing(statement: ast.stmt, blank: set[str]) -> bool:
    """Return whether a statement is one that a stub may have, such as `pass` or `return None`.

    Names to which the statement assigns None are added to `blank`.

    Args:
        statement: the statement.
        blank: the names to which the statements before this one assigned None.
    """
    match statement:
        case ast.Pass() | ast.Expr(value=ast.Constant()) | ast.Return(value=None | ast.Constant(value=None)):
            return True
        case ast.Assign(targets=targets, value=ast.Constant(value=None)):
            blank.update(target.id for target in targets if isinstance(target, ast.Name))
            return all(isinstance(target, ast.Name) for target in targets)
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.Constant(value=None)):
            blank.add(name)
            return True
        case ast.Return(value=ast.Name(id=name)):
            return name in blank
    return False


def may_lack_return(files: Mapping[str, bytes], names: Collection[str]) -> bool:
    """Return whether one of the named functions contains no `return` with a value."""
    called = [each for content in files.values() for each in _functions(content) if each.name in names]
    return any(not any(isinstance(n, ast.Return) and n.value is not None for n in ast.walk(each)) for each in called)


@_read_once
def statement_spans(content: bytes) -> Mapping[int, int]:
    """Return a dict from the first line of each statement in a function to its last line.

    A call over lines 5 and 6 is `{5: 6}`, and `for i in x:` in line 3 is `{3: 3}`: the last line of a compound
    statement is the one before its body.
    """
    ends: dict[int, int] = {}
    for function in _functions(content):
        for node in ast.walk(function):
            if isinstance(node, ast.stmt) and node is not function:
                body = getattr(node, "body", None)
                ends[node.lineno] = max(node.lineno, body[0].lineno - 1 if body else node.end_lineno or 0)
    return ends


@_read_once
def _functions(content: bytes) -> Sequence[Function]:
    try:
        tree = ast.parse(text_of(content))
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return []
    return [node for node in ast.walk(tree) if isinstance(node, Function)]


@_read_once
def undefined_names(content: bytes) -> frozenset[str]:
    """Return the names that a file uses and defines nowhere; an empty set if it is not Python.

    Args:
        content: the bytes of the file.
    """
    try:
        tables = [symtable.symtable(text_of(content), "file", "exec")]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    used, given = set[str](), set[str]()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        for symbol in table.get_symbols():
            if symbol.is_global() and symbol.is_referenced():
                used.add(symbol.get_name())
            if table.get_type() == "module" or symbol.is_declared_global():
                given.update([symbol.get_name()] * (symbol.is_assigned() or symbol.is_imported()))
    return frozenset(used - given - vars(builtins).keys())
