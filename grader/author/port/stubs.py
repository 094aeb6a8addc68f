"""What a student is to write: stubs of functions, classes and variables, and how each of them is called."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from grader.author.port.rewrite import Tests, is_seed_call
from grader.author.port.text import (
    Edits,
    TopStatement,
    source_of_file,
    statements_needed,
    top_statements,
)
from grader.lint.scope import Function, imported_names, parameters

_NEEDS_YOURS = "if False:  # TODO write True when you have written what the code below needs"
DOCSTRING = "@docstring@"
"""Stands in the place of the docstring of the stubs."""
_USUAL_IMPORTS = ("import torch", "import numpy as np", "from torch import nn", "import torch.nn as nn")
"""Imports of the reference that students get, whether a stub needs them or not."""
_RAISES = "raise NotImplementedError"
_TODO = f"{_RAISES}  # TODO"


def with_docstring(stubs: str, task: str) -> str:
    """Return stubs with the task as their docstring.

    The docstring is a raw string if the task has a backslash.
    """
    task = task.replace('"""', "'''")
    prefix = "r" if "\\" in task else ""
    return stubs.replace(f'"""{DOCSTRING}', f'{prefix}"""{task}')


@dataclass(frozen=True)
class Given:
    """What students get of a notebook besides stubs.

    Attributes:
        source: its source; what the reference does not need is left out. A statement that needs what students write
            stands at the end of the starter, and does not run at first.
        skeletons: functions and classes of which students get a part: their source with TODOs, by name.
        loops: loops and the like outside of functions of which students get a part: their source with TODOs.
        kept: names whose definitions students get as they are.
        solved: names that students write, and that no test may use.
    """

    source: str = ""
    skeletons: Mapping[str, str] = field(default_factory=dict)
    loops: Sequence[str] = ()
    kept: Collection[str] = ()
    solved: Collection[str] = ()


def stubs_of(plain: Tests, names: Sequence[str], reference: str, given: Given) -> tuple[dict[str, str], str]:
    """Return stubs of what a student is to write, and how each of them is called.

    Args:
        plain: the test file.
        names: the student's functions, classes and variables that the test file uses.
        reference: the source of the reference, or "".
        given: what students get besides the stubs.

    Returns:
        A dict with the call of each name, such as "f(x, y)", and the source of all stubs with what they need.
    """
    known = top_statements(reference) if reference else []
    written = {item.name: item for item in known if item.name in names}
    variables = {name for item in known if not item.name for name in item.binds} - written.keys()
    imports = [item for item in known if imported_names(item.node)]
    needed = {item.text.rstrip() for item in (*statements_needed(known, [*names, *given.kept]), *imports)}
    own = [
        item
        for item in top_statements(given.source, with_parameters=False)
        if (item.text.rstrip() in needed or is_seed_call(item.node)) and item.name not in names
    ]
    own, late = _divide_by_need(own, {*names, *given.solved})
    begun = {name for item in own for name in item.binds}
    loops, late_loops = _loops_of(given, {*names, *given.solved} - begun)
    code = [
        given.skeletons.get(name) or _stub_of(written[name]) if name in written
        else f"{name} = {name}  # TODO\n" if name in begun
        else f"{name} = None  # TODO\n" if name in variables
        else _guessed_stub(plain, name)
        for name in names
    ]  # fmt: skip
    items = top_statements("\n\n".join(code))
    calls = {item.name: _call_text(item.node) for item in items} | {name: name for name in names if name in variables}
    whole = [*imports, *own, *items]
    loops_need = [name for item in loops for name in item.uses]
    chosen = statements_needed(whole, [*names, *begun, *loops_need])
    chosen += [item for item in whole if is_seed_call(item.node) or item.text.strip() in _USUAL_IMPORTS]
    stubs = source_of_file(DOCSTRING, [*(item for item in whole if item in chosen), *loops])
    waits = "".join(f"{textwrap.indent(ast.unparse(item.node), '    ')}\n" for item in late)
    waits += "".join(textwrap.indent(item.text, "    ") for item in late_loops)  # with their comments
    return calls, stubs + (f"\n\n{_NEEDS_YOURS}\n{waits}" if waits else "")


def _loops_of(given: Given, missing: Collection[str]) -> tuple[list[TopStatement], list[TopStatement]]:
    """Divide the loops that students get into those that can run at first, and the others.

    A `while` is among the others, as one whose body is still to be written may not end.
    """
    items = [item for text in given.loops for item in top_statements(text)]
    early, late = _divide_by_need(items, missing)
    endless = [item for item in early if any(isinstance(one, ast.While) for one in ast.walk(item.node))]
    return [item for item in early if item not in endless], [*late, *endless]


def _divide_by_need(
    given: Sequence[TopStatement], names: Collection[str]
) -> tuple[list[TopStatement], list[TopStatement]]:
    """Return the statements that can run before a student has written `names`, and the others.

    Of `a = f(1)`, `b = 2` and `c = a + b`, only `b = 2` can run before `f` is written. Definitions of functions and
    classes are always among the first.
    """
    early, late = list[TopStatement](), list[TopStatement]()
    missing = {*names}
    for item in given:
        if item.uses & missing and not isinstance(item.node, (Function, ast.ClassDef)):
            late.append(item)
            missing |= item.binds
        else:
            early.append(item)
            missing -= item.binds
    return early, late


def _call_text(node: ast.stmt) -> str:
    """Return how a function or a class is called, such as "f(x, y)"."""
    inits = [one for one in getattr(node, "body", ()) if isinstance(one, Function) and one.name == "__init__"]
    words = parameters(node) if isinstance(node, Function) else parameters(inits[0])[1:] if inits else []
    return f"{getattr(node, 'name', '')}({', '.join(words)})"


def _stub_of(item: TopStatement) -> str:
    """Return a function or class with a TODO in place of the code of each function.

    Of `def f(x, y): return x + y` this is:

        def f(x, y):
            raise NotImplementedError  # TODO

    Private methods are left out, and docstrings are shortened.
    """
    node = ast.parse(item.text).body[0]
    for one in ast.walk(node):
        if isinstance(one, (Function, ast.ClassDef)):
            text = ast.get_docstring(one)
            first = [ast.Expr(ast.Constant(_first_paragraph(text, one.body[0].col_offset)))] if text else []
            public = [part for part in one.body if isinstance(part, Function) and not re.match("_(?!_)", part.name)]
            body = [*first, *(public if isinstance(one, ast.ClassDef) else ast.parse(_RAISES).body)]
            one.body = body or ast.parse("pass").body
    text = ast.unparse(node) + "\n"
    edits = Edits(text)
    for one in ast.walk(ast.parse(text)):
        if isinstance(one, ast.Raise):
            edits.replace(one, _TODO)
    return edits.result()


def _first_paragraph(text: str, column: int) -> str:
    """Return the first paragraph of a docstring, wrapped.

    All lines but the first are indented to `column`.
    """
    return f"\n{' ' * column}".join(textwrap.wrap(text.split("\n\n")[0], 110 - column, break_long_words=False))


def _guessed_stub(plain: Tests, name: str) -> str:
    """Return a stub of a function or class, with parameters guessed from its calls in tests.

    For the call `f(a, 2, k=1)` it is `def f(a, x, k=None)`: a parameter for each positional argument of the longest
    call, and for each keyword of any call.
    """
    functions = [node for item in plain.items for node, task in plain.student_nodes(item.node) if task == name]
    nodes = [node for item in plain.items for node in ast.walk(item.node)]
    calls = [node for node in nodes if isinstance(node, ast.Call) and node.func in functions]
    words = {word.arg: None for call in calls for word in call.keywords if word.arg}
    names: list[str] = []
    for place in range(max((len(call.args) for call in calls), default=0)):
        given = [call.args[place] for call in calls if len(call.args) > place]
        own = [arg.id.lower() for arg in given if isinstance(arg, ast.Name)]
        names.append(next(one for one in (*own, "x", "y", "z", f"arg{place}") if one not in {*names, *words}))
    params = ", ".join([*names, *(f"{word}=None" for word in words)])
    if not name[:1].isupper():
        return f"def {name}({params}):\n    {_TODO}\n"
    return f"class {name}:\n    def __init__({', '.join(filter(None, ['self', params]))}):\n        {_TODO}\n"
