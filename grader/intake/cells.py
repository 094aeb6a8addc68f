"""The source of a notebook's cell → the Python text that IPython runs of it. Nothing is run.

Saved notebooks, kernels and CI jobs all read cells with `python_of`. IPython decides what a magic is, where it is
installed; elsewhere Python's own parser does, which stops at the line of a magic. Either way a magic becomes a call of
`get_ipython()`, and the syntax tree says what is to be done with that call: `%time` and `%%time` run the code that they
time, so that code stays; what only a notebook can run is left out, with a note. So is an `await` outside of a function.
"""

from __future__ import annotations

import ast
import functools
import tokenize
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from textwrap import dedent
from typing import Any

from grader.intake.match import LARGEST, syntax_error
from grader.model.unparsed import unresolved_merge_line

_BODY_RUNS = ("time", "timeit", "capture", "prun")
"""Magics of a whole cell that run its body as Python."""
_LINE_RUNS = ("time", "prun")
"""Magics of a line that run the rest of it in the notebook's own namespace; `%timeit` binds no name there."""
_MOST_MAGICS = 100
"""A cell with more of them is no one's work, and each costs a run of the parser."""
_LONGEST_LINE = 1000
"""IPython's tokenizer takes quadratic time for a line that is not Python."""
_SHOWN = 60

_AWAITING = (ast.Await, ast.AsyncFor, ast.AsyncWith)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class WrittenFile:
    """A Python file that a cell writes: `%%writefile name.py`.

    Attributes:
        name: the name of the file.
        text: the text that is written.
        appends: True if it is added to what the file has.
    """

    name: str
    text: str
    appends: bool


@dataclass(frozen=True)
class Code:
    """The Python text of a cell.

    Attributes:
        lines: the lines of the text.
        numbers: for each of these lines, the line of the cell that it comes from.
        left_out: lines of the cell that only a notebook can run, and that are not in the text.
        unbound: the names that these would give a value.
        tree: the syntax tree of the text; None if it is not Python, or too large to be looked at.
        written: the file that it writes, if it is a Python file.
    """

    lines: tuple[str, ...]
    numbers: tuple[int, ...]
    left_out: tuple[str, ...] = ()
    unbound: frozenset[str] = frozenset()
    tree: ast.Module | None = None
    written: WrittenFile | None = None

    @property
    def text(self) -> str:
        """Return the lines as one text."""
        return "\n".join(self.lines)


@dataclass(frozen=True)
class CodeEdit:
    """A replacement in the text of a cell: a node of its syntax tree, and other source.

    Attributes:
        node: the node that is replaced.
        instead: the source that stands in its place; "" to remove a statement.
    """

    node: ast.stmt | ast.expr
    instead: str


def tree_or_none(source: str) -> ast.Module | None:
    """Return the syntax tree of a text; None if it is not Python, or too large."""
    if len(source) <= LARGEST and not syntax_error(source):
        with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            return ast.parse(source)
    return None


@functools.lru_cache(maxsize=2000)  # the cells of a notebook are looked at for each of its exercises
def python_of(source: str) -> Code:
    """Return the Python text of a cell, without IPython's magics.

    `%time f(x)` becomes `f(x)`, as the code that is timed stays. `%cd data` becomes a blank line, and is one of the
    result's `left_out`.

    Args:
        source: the cell as the student typed it, or with the calls of `get_ipython()` that IPython writes for magics.
    """
    whole = source.split("\n")
    numbers = tuple(range(1, len(whole) + 1))
    if len(source) > LARGEST:
        return Code(tuple(whole), numbers)
    if written := _written_file(whole):
        return Code(("",) * len(whole), numbers, tree=ast.Module([], []), written=written)
    if unresolved_merge_line(source.encode("utf-8", "replace")):  # IPython would take its lines for prompts
        return Code(tuple(whole), numbers)
    text, left_out = _without_cell_magics(source)
    if text and _parsed_cell(text) is None:
        text = _replace_magics(text)
    tree = _parsed_cell(text)
    if tree is None:  # its author reads what is wrong with it
        return Code(tuple(text.split("\n")), numbers, tuple(left_out))
    edits, cut = _magic_edits(tree)
    awaiting = [node for node in tree.body if node not in cut and not _compiles(node)]
    cut += awaiting
    edits = [edit for edit in edits if not any(edit.node in ast.walk(node) for node in awaiting)]
    edits += [CodeEdit(node, "") for node in awaiting]
    unbound = frozenset(name for node in cut for name in bindings(node))
    lines = text.split("\n")
    for node in cut:
        typed = lines[node.lineno - 1] == whole[node.lineno - 1]  # else IPython wrote the call
        left_out.append(_shorten_line((typed and ast.get_source_segment(text, node)) or whole[node.lineno - 1]))
    if not edits:
        return Code(tuple(lines), numbers, tuple(left_out), tree=tree)
    new, origins = apply_edits(text, edits)
    return Code(new, origins, tuple(left_out), unbound, tree_or_none("\n".join(new)))


def _parsed_cell(text: str) -> ast.Module | None:
    """Return the syntax tree of a cell, or None if it is not Python.

    A cell may have `await` outside of a function.
    """
    if (tree := tree_or_none(text)) is not None or len(text) > LARGEST or ("await" not in text and "async" not in text):
        return tree
    with warnings.catch_warnings(), suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        warnings.simplefilter("ignore")
        compile(text, "cell", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        return ast.parse(text)
    return None


def _compiles(node: ast.stmt) -> bool:
    """Return whether a statement of a cell is allowed in a module.

    It is not if it has `await` outside of a function.
    """
    if not any(isinstance(part, _AWAITING) or getattr(part, "is_async", 0) for part in ast.walk(node)):
        return True
    return syntax_error(ast.unparse(node)) is None


def listed_lines(left_out: tuple[str, ...]) -> str:
    """Return the lines that were left out of a cell as one text, for a note to the student.

    It has the first three lines, and the number of the others: `("!a", "!b", "!c", "!d")` becomes
    "`!a`, `!b`, `!c` and 1 more".
    """
    names = [f"`{line}`" for line in left_out[:3]]
    more = len(left_out) - len(names)
    return f"{', '.join(names)} and {more} more" if more else ", ".join(names)


def apply_edits(text: str, edits: list[CodeEdit]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Apply edits to a text, and return its lines, each with the line that it comes from.

    If the two lines `x` and `y` replace `a()` in the first line of `a()`, `b()`, the result is `("x", "y", "b()")` and
    `(1, 1, 2)`. Blank lines fill up for removed ones, so that the lines behind an edit move only if it adds lines.

    Args:
        text: the text from which the nodes were parsed.
        edits: the edits, which do not overlap.

    Returns:
        The lines of the new text; and for each of them, the number of the line in the old text that it comes from.
    """
    lines = [line.encode("utf-8", "surrogatepass") for line in text.split("\n")]  # columns are counted in bytes
    numbers = list(range(1, len(lines) + 1))
    # From the end on, since what stands behind a statement in its line moves.
    for edit in sorted(edits, key=lambda edit: (edit.node.lineno, edit.node.col_offset), reverse=True):
        node = edit.node
        assert node.end_lineno is not None
        first, last = node.lineno - 1, node.end_lineno - 1
        before, after = lines[first][: node.col_offset], lines[last][node.end_col_offset :]
        new = edit.instead.encode("utf-8", "surrogatepass").split(b"\n")
        new[-1] += after if edit.instead else after.lstrip(b" ;")
        new[0] = before + new[0]
        new += [b""] * (last - first + 1 - len(new))
        lines[first : last + 1] = new
        extra = len(new) - (last - first + 1)
        numbers[last + 1 : last + 1] = [numbers[last]] * extra
    return tuple(line.decode("utf-8", "surrogatepass") for line in lines), tuple(numbers)


def simple_statements(tree: ast.Module) -> Iterator[tuple[ast.stmt, bool]]:
    """Yield the statements that contain no other statements, at any depth.

    Each comes with a bool: True if the statement is inside a block, False if it is at the top level.
    """
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            for inner in block if isinstance(block, list) else ():
                if isinstance(inner, ast.stmt) and not _has_blocks(inner):
                    yield inner, node is not tree


def statements_in_order(block: Sequence[ast.AST]) -> Iterator[ast.stmt]:
    """Yield the simple statements and definitions of a block, in the order of the text.

    Of `if a: f()`, this is `f()`. Of a function or a class, it is the definition, and not the statements inside.
    """
    todo = [*reversed(block)]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.stmt) and (not _has_blocks(node) or isinstance(node, DEFINITIONS)):
            yield node
        elif isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
            todo += reversed([*ast.iter_child_nodes(node)])


def bindings(node: ast.stmt) -> set[str]:
    """Return the names that a statement at the top of a module binds when it runs.

    `a, b = f()` binds `{"a", "b"}`; `def f(x): y = x` binds `{"f"}`. A name that the statement deletes counts, too.
    """
    names: set[str] = set()
    todo: list[ast.AST] = [node]
    while todo:
        match todo.pop():
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() as inner:
                names.add(inner.name)
            case ast.Lambda():
                pass
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                names.add(name)
            case ast.alias() as alias:
                names.add(bound_by(alias))
            case inner:
                if isinstance(inner, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and inner.name:
                    names.add(inner.name)
                if isinstance(inner, ast.MatchMapping) and inner.rest:
                    names.add(inner.rest)
                todo += ast.iter_child_nodes(inner)
    return names


def bound_by(alias: ast.alias) -> str:
    """Return the name that an `ast.alias` of an import binds: `b` for `a as b`, `a` for `a.c`."""
    return alias.asname or alias.name.partition(".")[0]


def has_own_lines(node: ast.stmt, code: Code) -> bool:
    """Return whether nothing but a comment shares a line with a statement.

    Only such a statement can be put into a `try` by `wrap_in_try`.
    """
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    before = code.lines[first].encode()[: node.col_offset]
    after = code.lines[last].encode("utf-8", "surrogatepass")[node.end_col_offset :].strip()
    return not before.strip() and (not after or after.startswith(b"#"))


def wrap_in_try(text: str, label: str) -> str:
    """Put a statement into a `try`, so that an exception does not end the module.

    For `x = f()` and the label "In [3], line 2, was left out:" it returns:

        try: x = f()
        except Exception as _failed: print('In [3], line 2, was left out:', repr(_failed))

    A block with a string of several lines cannot be indented, and is returned unchanged.
    """
    lines = text.split("\n")
    tree = tree_or_none(text)
    if tree is None or len(tree.body) != 1:
        return text
    failing = f"except Exception as _failed: print({label!r}, repr(_failed))"
    if not _has_blocks(tree.body[0]):
        return f"try: {text}\n{failing}"
    if any(
        isinstance(part, ast.Constant | ast.JoinedStr) and part.end_lineno != part.lineno for part in ast.walk(tree)
    ):
        return text
    return "\n".join([f"try:\n    {lines[0]}", *(f"    {line}" for line in lines[1:]), failing])


def _has_blocks(node: ast.stmt) -> bool:
    return hasattr(node, "body") or isinstance(node, ast.Match)


def dotted_name(node: ast.expr) -> str:
    """Return the dotted name that an expression is, such as "torch.nn"; "" for any other."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


# -- what a magic is ---------------------------------------------------------------------------------------------------


def _without_cell_magics(source: str) -> tuple[str, list[str]]:
    """Replace the `%%` magics at the top of a cell by blank lines.

    A cell with `%%time` above `f()` becomes a blank line above `f()`. A magic that does not run the body as Python,
    such as `%%bash`, blanks the whole cell.

    Returns:
        The source with as many lines as before; and the magics that blank the cell or have arguments, to note them as
        left out.
    """
    lines, left_out = source.split("\n"), []
    for place, line in enumerate(lines):
        if line.strip() and not line.startswith("%%"):
            break
        if line.strip():
            name, *arguments = line[2:].split() or [""]
            if name not in _BODY_RUNS:
                left_out.append(_shorten_line(line))
                return "\n" * (len(lines) - 1), left_out
            if arguments:
                left_out.append(_shorten_line(line))
            lines[place] = ""
    return "\n".join(lines), left_out


def _written_file(lines: Sequence[str]) -> WrittenFile | None:
    """Return the Python file that a cell writes by `%%writefile name.py`, or None."""
    at = next((at for at, line in enumerate(lines) if line.strip()), 0)
    match lines[at].split():
        case ["%%writefile" | "%%file", *options, name] if name.endswith(".py") and name[:-3].isidentifier():
            return WrittenFile(name, "\n".join([*lines[at + 1 :], ""]), bool({*options} & {"-a", "--append"}))
    return None


def _replace_magics(source: str) -> str:
    """Replace the magics of a cell by calls of `get_ipython()`, so that it can be parsed.

    `%cd data` becomes `get_ipython().run_line_magic('cd', 'data')`. Lines keep their numbers.
    """
    lines = source.splitlines(keepends=True)
    try:
        from IPython.core.inputtransformer2 import TransformerManager
    except ImportError:
        return _replace_magics_by_parser(source)
    if max(map(len, lines)) > _LONGEST_LINE:
        return _replace_magics_by_parser(source)
    manager: Any = TransformerManager()  # IPython has no types
    for clean in manager.cleanup_transforms:
        lines = clean(lines)
    # It takes blank lines off the top, and puts a line that goes on after a backslash into one.
    lines = ["\n"] * (source.count("\n") - "".join(lines).count("\n")) + lines
    for _ in range(_MOST_MAGICS):
        try:
            changed, new = manager.do_one_token_transform(lines)
        except SyntaxError:  # IPython, too, says no more of such a cell than what is wrong with it
            break
        if not changed:
            break
        place = next((at for at, pair in enumerate(zip(lines, new, strict=False)) if pair[0] != pair[1]), len(new) - 1)
        lines = new[: place + 1] + ["\n"] * (len(lines) - len(new)) + new[place + 1 :]
    return "".join(lines).removesuffix("" if source.endswith("\n") else "\n")


def _replace_magics_by_parser(source: str) -> str:
    """Replace magics as `_replace_magics` does, without IPython.

    It is used if IPython is missing, or if a line is too long for it. Each line at which Python's parser stops is taken
    for a magic.
    """
    source = dedent(source)
    lines = source.split("\n")
    for _ in range(_MOST_MAGICS):
        error = syntax_error("\n".join(lines))
        place = (error.lineno or 0) - 1 if error else -1
        if not 0 <= place < len(lines) or _is_incomplete(lines[:place]):
            break
        last = place
        while lines[last].endswith("\\") and last + 1 < len(lines):
            last += 1
        line = "".join(part.removesuffix("\\") for part in lines[place : last + 1])
        call = _call_for_magic(line)
        if not call:
            break
        lines[place : last + 1] = [call] + [""] * (last - place)
    return "\n".join(lines)


def _is_incomplete(lines: Sequence[str]) -> bool:
    """Return whether these lines end in the middle of a statement, as `f(1,` does.

    Then the next line cannot be a magic.
    """
    text = iter([f"{line}\n" for line in lines])
    try:
        for _ in tokenize.generate_tokens(text.__next__):
            pass
    except (tokenize.TokenError, SyntaxError):
        return True
    return bool(lines) and lines[-1].endswith("\\")


def _call_for_magic(line: str) -> str:
    """Return the call of `get_ipython()` that stands for a magic in a line; "" without one.

    `x = %time f()` becomes `x = get_ipython().run_line_magic('time', 'f()')`, and `!ls` becomes
    `get_ipython().system('ls')`.
    """
    indent, words = line[: len(line) - len(line.lstrip())], line.strip()
    target, equals, value = words.partition("=")
    if equals and value.lstrip()[:1] in ("%", "!") and words[0] not in "%!":
        return f"{indent}{target}= {_magic_call(value.strip(), assigned=True)}"
    if words.startswith(("%", "!")):
        return indent + _magic_call(words)
    last = words.rstrip("?")[-1:]
    if words.startswith("?") or (words.endswith("?") and (last.isalnum() or last in ("_", "*", "]"))):
        return f"{indent}get_ipython().run_line_magic('pinfo', {words.strip('?')!r})"
    return ""


def _magic_call(words: str, *, assigned: bool = False) -> str:
    if words.startswith("%"):
        name, _, rest = words[1:].partition(" ")
        return f"get_ipython().run_line_magic({name!r}, {rest.strip()!r})"
    return f"get_ipython().{'getoutput' if assigned else 'system'}({words.lstrip('!')!r})"


# -- what is done with a magic -----------------------------------------------------------------------------------------


def _magic_edits(tree: ast.Module) -> tuple[list[CodeEdit], list[ast.stmt]]:
    """Return the edits that make a cell run without IPython.

    `get_ipython().run_line_magic('time', 'f()')` is replaced by `f()`. A statement with any other magic is removed, or
    becomes `pass` inside of a block.

    Args:
        tree: the syntax tree of the cell, in which magics are calls of `get_ipython()`.

    Returns:
        The edits, and the statements that these edits remove.
    """
    edits: list[CodeEdit] = []
    cut: list[ast.stmt] = []
    for node, in_block in simple_statements(tree):
        calls = [call for call in ast.walk(node) if isinstance(call, ast.Call) and _ipython_method(call)]
        new = [code for call in calls if (code := _edit_for_timing_magic(call, node))]
        if calls and len(new) == len(calls):
            edits += new
        elif calls:
            edits.append(CodeEdit(node, "pass" if in_block else ""))
            cut.append(node)
    covered = {id(call) for edit in edits for call in ast.walk(edit.node)}
    for call in ast.walk(tree):
        # Outside a notebook, IPython's function of this name returns None.
        if isinstance(call, ast.Call) and dotted_name(call.func) == "get_ipython" and id(call) not in covered:
            edits.append(CodeEdit(call, "None"))
    return edits, cut


def _ipython_method(call: ast.Call) -> str:
    """Return the method in a call `get_ipython().method()`; "" for any other call.

    For `get_ipython().run_line_magic('cd', 'data')` it is "run_line_magic".
    """
    match call.func:
        case ast.Attribute(ast.Call(ast.Name("get_ipython"), [], []), name):
            return name
    return ""


def _edit_for_timing_magic(call: ast.Call, statement: ast.stmt) -> CodeEdit | None:
    """Return the edit that replaces a timing magic by the code that it times, or None."""
    alone = isinstance(statement, ast.Expr) and statement.value is call
    match _ipython_method(call), call.args:
        case "run_line_magic", [ast.Constant(str() as name), ast.Constant(str() as code), *_] if name in _LINE_RUNS:
            tree = tree_or_none(code.strip())
            if tree is None or not tree.body:
                return None
            if alone:
                return CodeEdit(statement, code.strip())
            # The value of `%time f()` is that of f(); where it times a statement, it returns nothing.
            match tree.body:
                case [ast.Expr(value)]:
                    segment = ast.get_source_segment(code.strip(), value)
                    return CodeEdit(call, f"({segment})")
        case "run_cell_magic", [ast.Constant(str() as name), ast.Constant(), ast.Constant(str() as body)]:
            if alone and name in _BODY_RUNS and statement.col_offset == 0 and tree_or_none(body) is not None:
                return CodeEdit(statement, body.rstrip("\n"))
    return None


def _shorten_line(line: str) -> str:
    line = line.strip().split("\n")[0]
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 4]} ..."
