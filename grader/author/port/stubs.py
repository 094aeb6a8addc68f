"""What a student is to write: stubs of functions, classes and variables, and how each of them is called."""

from __future__ import annotations

import ast
import itertools
import re
import textwrap
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from grader.author.port.cells import RAISES_TODO
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
        source: its source; what the reference does not have is left out. A statement that needs what students write
            does not run at first.
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
    texts = {item.text.rstrip() for item in known}
    own = [
        item
        for item in top_statements(given.source, with_parameters=False)
        if (item.text.rstrip() in texts or is_seed_call(item.node)) and item.name not in names
    ]
    begun = {name for item in own for name in item.binds}
    loops = [item for text in given.loops for item in top_statements(text)]
    order = _Order(known, own, loops)
    placed = list[tuple[float, TopStatement]]()
    for name in names:
        if name in variables | begun:
            made = order.stubs_of_variable(name)
        else:
            text = given.skeletons.get(name) or (_stub_of(written[name]) if name in written else "")
            made = [(order.place_of(name), text or _guessed_stub(plain, name))]
        placed += [(place, item) for place, text in made for item in top_statements(text)]
    stubs = [item for _, item in placed]
    calls = {item.name: _call_text(item.node) for item in stubs} | {name: name for name in names if name in variables}
    if given.source or given.solved:  # of a notebook
        placed = sorted([*order.given, *placed, *order.loops], key=lambda each: each[0])
    items = [item for _, item in placed]
    late = _statements_to_wait(items, {*names, *given.solved}, stubs, loops)
    whole = [*imports, *items]
    loops_need = [name for item in loops if item not in late for name in item.uses]
    chosen = statements_needed([item for item in whole if item not in late], [*names, *begun, *loops_need])
    chosen += [*stubs, *loops, *late]
    chosen += [item for item in whole if is_seed_call(item.node) or item.text.strip() in _USUAL_IMPORTS]
    return calls, source_of_file(DOCSTRING, _with_waiting([item for item in whole if item in chosen], late))


class _Order:
    """The order of a reference, in which the statements of a starter stand.

    Args:
        known: the statements of the reference.
        given: the statements that students get, in the notebook's order.
        loops: the loops of which students get a part.

    Attributes:
        given: the statements that students get, each with its place: the index in the reference, or a number between.
        loops: the loops, each with its place.
    """

    def __init__(
        self, known: Sequence[TopStatement], given: Sequence[TopStatement], loops: Sequence[TopStatement]
    ) -> None:
        self._known = known
        self.given = list[tuple[float, TopStatement]]()
        self._given_places = set[int]()
        last = -1
        for item in given:
            same = [place for place, one in enumerate(known) if one.text.rstrip() == item.text.rstrip()]
            place = next((place for place in same if place > last), None)
            if place is not None:
                last = place
            self._given_places.update(same[:1] if place is None else [place])
            self.given.append((last + 0.5 if place is None else place, item))
        heads = {_first_line(item): place for place, item in reversed([*enumerate(known)])}
        self.loops = [(float(heads.get(_first_line(item), len(known))), item) for item in loops]

    def place_of(self, name: str) -> float:
        """Return the place of a function or class; the end if the reference has none of this name."""
        return next((place for place, item in enumerate(self._known) if item.name == name), len(self._known))

    def stubs_of_variable(self, name: str) -> list[tuple[float, str]]:
        """Return the stubs of a variable, each with its place.

        The first stands where the solution first binds it, and another one where the solution binds it after a line
        that students get. `x = None  # TODO` would undo a line `x = []` just above it, to be changed or to be filled:
        there, the stub is ``pass  # TODO change `x` ``. A loop of which students get a part has its own TODO.
        """
        places = [
            place for place, item in enumerate(self._known) if name in item.binds and not imported_names(item.node)
        ]
        stubs = list[tuple[float, str]]()
        above = None
        for place in places:
            if place not in self._given_places and (above is None or above in self._given_places):
                if above is None:
                    stubs.append((place, f"{name} = None  # TODO\n"))
                elif place not in {at for at, _ in self.loops}:
                    undoes = self._changes(name, place) or self._stands_just_above(above, place)
                    stubs.append((place, f"pass  # TODO change `{name}`\n" if undoes else f"{name} = None  # TODO\n"))
            above = place
        return stubs

    def _changes(self, name: str, place: int) -> bool:
        """Return whether a statement needs the earlier value of a variable that it binds."""
        item = self._known[place]
        stored = {one.id for one in ast.walk(item.node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
        return name in item.uses or name not in stored

    def _stands_just_above(self, given: int, solved: int) -> bool:
        """Return whether no solution stands between a line that students get and the lines around a solution."""
        is_given = [place in self._given_places for place in range(given, solved)]
        return is_given == sorted(is_given, reverse=True)


def _first_line(item: TopStatement) -> str:
    """Return the first line of a statement below its comments."""
    return item.text.split("\n")[item.node.lineno - 1].strip()


def _statements_to_wait(
    items: Sequence[TopStatement],
    names: Collection[str],
    stubs: Sequence[TopStatement],
    loops: Sequence[TopStatement],
) -> list[TopStatement]:
    """Return the statements that cannot run before a student has written `names`.

    Of `a = f(1)`, `b = 2` and `c = a + b`, these are the first and the last if `f` is to be written. Stubs and
    definitions of functions and classes are never among them. A `while` of which students get a part is, since one
    whose body is still to be written may not end.

    Args:
        items: the statements, in the starter's order.
        names: the names that students write.
        stubs: the stubs among the statements.
        loops: the loops among them of which students get a part.
    """
    late, missing = list[TopStatement](), {*names}
    for item in items:
        if item in stubs:
            missing |= item.binds
        elif isinstance(item.node, (Function, ast.ClassDef)):
            missing -= item.binds
        elif item.uses & missing or (item in loops and any(isinstance(one, ast.While) for one in ast.walk(item.node))):
            late.append(item)
            missing |= item.binds
        else:
            missing -= item.binds
    return late


def _with_waiting(items: Sequence[TopStatement], late: Collection[TopStatement]) -> list[TopStatement]:
    """Return statements with each run of those in `late` below an `if False:`, with empty lines around it."""
    runs = [(waits, [*run]) for waits, run in itertools.groupby(items, lambda item: item in late)]
    made = list[TopStatement]()
    for number, (waits, run) in enumerate(runs):
        if not waits:
            made += run
            continue
        # Comments of a loop are TODOs. Another statement may have a text of several lines, which is not to be indented.
        texts = (item.text if "# TODO" in item.text else f"{ast.unparse(item.node)}\n" for item in run)
        (block,) = top_statements(f"{_NEEDS_YOURS}\n{''.join(textwrap.indent(text, '    ') for text in texts)}")
        is_apart = bool(made) and isinstance(made[-1].node, (Function, ast.ClassDef))
        after = next(iter(runs[number + 1][1]), None) if number + 1 < len(runs) else None
        ends = after is None or isinstance(after.node, (Function, ast.ClassDef))
        made.append(replace(block, text=f"{'' if is_apart else chr(10) * 2}{block.text}{'' if ends else chr(10) * 2}"))
    return made


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
            body = [*first, *(public if isinstance(one, ast.ClassDef) else ast.parse(RAISES_TODO).body)]
            one.body = body or ast.parse("pass").body
    text = ast.unparse(node) + "\n"
    edits = Edits(text)
    for one in ast.walk(ast.parse(text)):
        if isinstance(one, ast.Raise):
            edits.replace(one, RAISES_TODO)
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
        return f"def {name}({params}):\n    {RAISES_TODO}\n"
    return f"class {name}:\n    def __init__({', '.join(filter(None, ['self', params]))}):\n        {RAISES_TODO}\n"
