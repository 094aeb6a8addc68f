"""Which functions of a test file can fail because of a value, and which fail only if student code raises."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Collection

from grader.lint.scope import Function, imported_names

_ASSERTS = re.compile(
    r"_*(assert\w*|(check|verify|validate|expect|test|grade|fail)([_A-Z0-9]\w*)?|raises|warns|deprecated_call|eq_|ok_)"
)
"""Names of functions that fail if a value is wrong, in whichever module they are."""
_KNOWN = {
    *sys.stdlib_module_names,
    *("grader", "torch", "numpy", "scipy", "pandas", "polars", "matplotlib", "seaborn", "sklearn", "IPython", "pytest"),
}
"""Packages whose other functions are known to assert nothing. A function of any other module may assert."""


def asserting_functions(text: str) -> set[str]:
    """Return the names of the functions in a file that can fail because of a value.

    If `a` has an `assert` and `b` calls `a`, both are returned. Names that are imported from unknown modules are, too.

    Args:
        text: the source of the file.
    """
    tree = ast.parse(text)
    names = {
        name
        for node in ast.walk(tree)
        for name, (module, _) in imported_names(node).items()
        if module.split(".")[0] not in _KNOWN
    }
    functions = [node for node in ast.walk(tree) if isinstance(node, Function)]
    while more := {one.name for one in functions if asserts_something(one, names)} - names:
        names |= more
    return names


def asserts_something(node: ast.AST, asserting: Collection[str] = ()) -> bool:
    """Return whether code can fail because of a value.

    Otherwise it fails only if a call in it raises.

    Args:
        node: the code. Decorators of a function do not count.
        asserting: the names of functions and modules that assert something.
    """
    parts = node.body if isinstance(node, Function) else [node]
    for one in (inner for part in parts for inner in ast.walk(part)):
        match one:
            case ast.Assert() | ast.Raise():
                return True
            case ast.Call(func=ast.Name(id=name)) if name in asserting or _ASSERTS.fullmatch(name):
                return True
            case ast.Call(func=ast.Attribute(value=owner, attr=name)) if _ASSERTS.fullmatch(name):
                return True
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner))) if owner == "probe" or owner in asserting:
                return True
    return False
