"""Functions and classes that a student is to write: as the reference has them, or by how the tests call them."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from grader.author.port.plain import Plain
from grader.author.port.text import Item, assembled, imports_of, items_of
from grader.lint.source import Function, parameters

DOCSTRING = "@docstring@"
"""Stands in the place of the docstring of the stubs."""
_TODO = "raise NotImplementedError  # TODO"


def stubs_of(plain: Plain, names: Sequence[str], reference: str) -> tuple[dict[str, str], str]:
    """What a student is to write.

    Args:
        plain: the test file.
        names: the functions and classes that it uses.
        reference: the text of the reference, or "".

    Returns:
        For each name how it is called, such as "f(x, y)", and the code of all stubs with their imports.
    """
    known = items_of(reference) if reference else []
    written = {item.name: item for item in known if item.name in names}
    code = [_emptied(written[name]) if name in written else _guessed(plain, name) for name in names]
    items = items_of("\n\n".join(code))
    calls = {item.name: _call(item.node) for item in items}
    return calls, assembled(DOCSTRING, items, imports_of(known))


def _call(node: ast.stmt) -> str:
    """How a function or a class is called."""
    inits = [one for one in getattr(node, "body", ()) if isinstance(one, Function) and one.name == "__init__"]
    words = parameters(node) if isinstance(node, Function) else parameters(inits[0])[1:] if inits else []
    return f"{getattr(node, 'name', '')}({', '.join(words)})"


def _emptied(item: Item) -> str:
    """A function or class of the reference without its code."""
    node = ast.parse(item.text).body[0]
    for one in ast.walk(node):
        if isinstance(one, (Function, ast.ClassDef)):
            text = ast.get_docstring(one)
            first = [ast.Expr(ast.Constant(text.splitlines()[0]))] if text else []
            public = [part for part in one.body if isinstance(part, Function) and not re.match("_(?!_)", part.name)]
            one.body = [*first, *(public if isinstance(one, ast.ClassDef) else [ast.Expr(ast.Name("TODO"))])]
    code = re.sub(r"\bTODO$", _TODO, ast.unparse(node), flags=re.MULTILINE)
    # As ruff formats it.
    code = re.sub(r"""'([^'"\\]*)'""", r'"\1"', code)
    return re.sub(r":\n\n(    +(?:@|def ))", r":\n\1", code) + "\n"


def _guessed(plain: Plain, name: str) -> str:
    """A stub, by how tests call the function or class."""
    calls = [
        node
        for item in plain.items
        for node in ast.walk(item.node)
        if isinstance(node, ast.Call) and name in {task for one, task in plain.students(item.node) if one is node.func}
    ]
    if not name[:1].isupper():
        return f"def {name}({_parameters(calls)}):\n    {_TODO}\n"
    words = ", ".join(filter(None, ["self", _parameters(calls)]))
    return f"class {name}:\n    def __init__({words}):\n        {_TODO}\n"


def _parameters(calls: Sequence[ast.Call]) -> str:
    """Parameters that all of these calls fit."""
    most = max((len(call.args) for call in calls), default=0)
    words = dict.fromkeys(word.arg for call in calls for word in call.keywords if word.arg)
    names: list[str] = []
    for place in range(most):
        given = [call.args[place] for call in calls if len(call.args) > place]
        named = [
            one.id.lower() for one in given if isinstance(one, ast.Name) and one.id.lower() not in {*names, *words}
        ]
        names.append(named[0] if named else next(one for one in ("x", "y", "z", f"arg{place}") if one not in names))
    always = [name for place, name in enumerate(names) if all(len(call.args) > place for call in calls)]
    required = [word for word in words if all(word in {one.arg for one in call.keywords} for call in calls)]
    optional = [name for name in (*names, *words) if name not in (*always, *required)]
    return ", ".join([*always, *required, *(f"{name}=None" for name in optional)])
