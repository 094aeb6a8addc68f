"""What other packages must know of a student's text: the names in it, its code without people, its tokens.

Called in the process that reads, as the texts are strangers'; `collect` has a function for each.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from importlib import util

from grader.model.errors import SubmissionError

_LEAST_LETTERS, _LEAST_DIGITS = 3, 5
_SOMEBODY = "student"
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+\.[\w.]+")
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINED = (*_FUNCTION, ast.ClassDef)
_SIMPLE = (ast.Return, ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Assert, ast.Raise, ast.Delete)


def unreadable_because(error: Exception) -> str:
    """Turn an unexpected exception of reading a file into a reason for its author.

    For a RecursionError it is "it nests too deeply to be read".
    """
    if isinstance(error, RecursionError | MemoryError):
        return "it nests too deeply to be read"
    return f"reading it failed ({type(error).__name__}: {error}); hand it in as plain text in UTF-8, or ask your staff"


def names_in_sources(*sources: bytes, functions: Collection[str] = ()) -> Iterator[str]:
    """Yield the names that sources use or define, also of attributes, keywords and modules.

    For `torch.cat(x, dim=0)` these are `torch`, `cat`, `x` and `dim`. Sources that are not Python are skipped.

    Args:
        sources: the texts, which may import each other.
        functions: the functions to search: their code, and the code that it uses. If it is empty, or if no source
            defines any of them, all code is searched.
    """
    trees = list(_trees_of(sources))
    for node in (each for statement in _statements_used_by(functions, trees) for each in ast.walk(statement)):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.keyword(arg=str() as name):
                yield name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
                yield name
            case ast.alias(name=name) | ast.ImportFrom(module=str() as name):
                yield from name.split(".")


def functions_used(*sources: bytes, function: str) -> Iterator[str]:
    """Yield the names of the functions and classes that a function uses, also indirectly.

    If `f` calls `g`, and `g` returns `C()`, they are `g` and `C`. Sources that are not Python are skipped.

    Args:
        sources: the texts, which may import each other.
        function: the name of the function; if no source defines it, nothing is yielded.
    """
    trees = list(_trees_of(sources))
    if any(function in _bound_names(statement) for tree in trees for statement in tree.body):
        needed = _statements_used_by([function], trees)
        yield from (each.name for each in needed if isinstance(each, _DEFINED) and each.name != function)


def functions_reached(*sources: bytes, places: Iterable[tuple[int, int]]) -> Iterator[str]:
    """Yield the functions and classes that may have run before an exception was raised.

    A function that did not run cannot be at fault for the exception. If `f` runs `y = g(x)`, then `h(y)`, which raises,
    then `k(y)`, they are `f`, `h` and `g`: those in the traceback, and all that their code up to the line uses.

    A branch of an `if` does not count if the line is in the other branch, or if the line is behind the `if` and the
    branch ends with `return` or `raise`. A loop counts whole.

    Args:
        sources: the texts, which may import each other.
        places: an index in `sources` and a line of that text, for each line of the traceback.
    """
    trees = [next(_trees_of([source]), ast.Module([], [])) for source in sources]
    rows = [(each, line) for at, line in places for each in trees[at].body if _has_line(each, line)]
    called = [getattr(statement, "name", "") for statement, _ in rows]
    yield from filter(None, called)
    used: set[str] = set()
    for index, (statement, line) in enumerate(rows):
        next_called = "".join(called[index + 1 : index + 2])
        for part in _code_run_before(statement, line):
            names = [node.id for node in ast.walk(part) if isinstance(node, ast.Name)]
            names += [node.attr for node in ast.walk(part) if isinstance(node, ast.Attribute)]
            # This call is the next line of the traceback: what comes behind that line was not called by it.
            if next_called in names and isinstance(part, _SIMPLE) and _has_line(part, line) and not _repeats(part):
                names.remove(next_called)
            used.update(names)
    if any(isinstance(each, _DEFINED) and each.name in used for tree in trees for each in tree.body):
        yield from (each.name for each in _statements_used_by(used, trees) if isinstance(each, _DEFINED))


def _repeats(code: ast.AST) -> bool:
    """Return whether code has a comprehension or a lambda, whose parts may run several times."""
    return any(isinstance(node, ast.comprehension | ast.Lambda) for node in ast.walk(code))


def _has_line(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _code_run_before(statement: ast.stmt, line: int) -> Iterator[ast.AST]:
    """Yield the parts of a top-level statement that may have run when a line was reached.

    Of a function, they are the statements of its body up to the line. A class, or a statement outside of functions, is
    yielded whole.
    """
    functions = [each for each in ast.walk(statement) if isinstance(each, _FUNCTION) and _has_line(each, line)]
    # The methods of a class are called by names that are not looked up here: all of them count.
    if isinstance(statement, ast.ClassDef) or not functions:
        yield statement
    else:
        yield from _part_of_block(functions[-1].body, line)


def _part_of_block(block: Sequence[ast.stmt], line: int) -> Iterator[ast.AST]:
    """Yield the statements of a block, or parts of them, that may have run up to a line.

    Of an `if`, they are its test and what is in the branches that lead to the line.

    Args:
        block: the statements of the block.
        line: the number of a line in the block, or behind it.
    """
    for statement in block:
        if statement.lineno > line:
            return
        is_passed = not _has_line(statement, line)
        match statement:
            case ast.If(test=test, body=body, orelse=orelse):
                yield test
                for branch in (body, orelse):
                    ends = bool(branch) and isinstance(branch[-1], ast.Return | ast.Raise)
                    if branch and (not ends if is_passed else branch[0].lineno <= line <= (branch[-1].end_lineno or 0)):
                        yield from _part_of_block(branch, line)
            case ast.With(items=items, body=body):
                yield from items
                yield from _part_of_block(body, line)
            case _:
                yield statement


def _trees_of(sources: Iterable[bytes]) -> Iterator[ast.Module]:
    for source in sources:
        with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            yield ast.parse(source)


def _statements_used_by(functions: Collection[str], trees: Sequence[ast.Module]) -> Iterator[ast.stmt]:
    """Yield the top-level statements that define these functions, or that their code needs.

    A name is looked up in its own file, and in others only if the statement imports: files side by side may be of
    different exercises. If no file defines any of the functions, all statements are yielded.

    Args:
        functions: the names of the functions.
        trees: the syntax trees of the files.
    """
    tables = [dict[str, list[ast.stmt]]() for _ in trees]
    for tree, table in zip(trees, tables, strict=True):
        for statement in tree.body:
            for name in _bound_names(statement):
                table.setdefault(name, []).append(statement)
    todo = [(place, name) for place, table in enumerate(tables) for name in functions if name in table]
    if not todo:
        yield from (statement for tree in trees for statement in tree.body)
        return
    seen, passed = set(todo), set[int]()
    while todo:
        place, name = todo.pop()
        for statement in tables[place][name]:
            if id(statement) in passed:
                continue
            passed.add(id(statement))
            yield statement
            leads = {(place, each) for each in _used_names(statement)}
            leads |= {
                (at, each)
                for at in range(len(tables))
                if at != place
                for each in _names_imported_by(statement, trees[place])
            }
            new = [(at, each) for at, each in leads - seen if each in tables[at]]
            todo += new
            seen.update(new)


def _used_names(statement: ast.stmt) -> Iterator[str]:
    """Yield the names in a statement, and `*`, under which `import *` may define any name.

    For `y = f(x)` these are `*`, `y`, `f` and `x`.
    """
    yield "*"
    yield from (node.id for node in ast.walk(statement) if isinstance(node, ast.Name))


def _names_imported_by(statement: ast.stmt, tree: ast.Module) -> Iterator[str]:
    """Yield the names that an import statement may take from other files of the submission.

    For `from m import f` these are `f` and each attribute in the importing file, as `f.x` may refer to `x` of an
    imported `f`. For `import m` they are the attributes alone. An `import *` may take any name in the importing file.
    Nothing is yielded for any other statement.

    Args:
        statement: the statement.
        tree: the syntax tree of the importing file.
    """
    match statement:
        case ast.Import():
            yield from (node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute))
        case ast.ImportFrom(names=names):
            nodes = [*ast.walk(tree)]
            yield from (each.name for each in names)
            yield from (node.attr for node in nodes if isinstance(node, ast.Attribute))
            if any(each.name == "*" for each in names):
                yield from (node.id for node in nodes if isinstance(node, ast.Name))


def _bound_names(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a top-level statement binds."""
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            yield from (each.asname or each.name.split(".")[0] for each in names)
        case _:
            for node in ast.walk(statement):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    yield node.id


def without_names(source: bytes, people: Collection[str], known: Collection[str]) -> str:
    """Remove from a student's code what may show who wrote it: names, comments, docstrings.

    For the author Ada, `ada = x` becomes `student = x`. Blocks like `if __name__ == "__main__"` are removed, too.

    Args:
        source: the file.
        people: the names of its authors.
        known: words that stay, also where somebody has such a name.

    Raises:
        SubmissionError: the file is not Python, imports a file beside it, or defines no function and no class.
    """
    try:
        tree = ast.parse(source)
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, *_DEFINED)):
                empty: list[ast.stmt] = [] if isinstance(node, ast.Module) else [ast.Pass()]
                node.body = [part for part in node.body if not _is_left_out(part)] or empty
        attributes = {node.attr.lower() for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        tree = ast.parse(_without_people(ast.unparse(tree) + "\n", people, {*known}, attributes))
        if own := sorted(_own_modules(tree)):
            raise SubmissionError(f"it imports {', '.join(own)}, a file of its own")
        if not any(isinstance(node, _DEFINED) for node in tree.body):
            raise SubmissionError("it defines no function and no class")
        return ast.unparse(tree)
    except (SyntaxError, ValueError) as error:
        raise SubmissionError(f"it is not Python: {error}") from None


def _is_left_out(node: ast.stmt) -> bool:
    match node:
        case ast.If(test=test):
            return any(isinstance(part, ast.Name) and part.id == "__name__" for part in ast.walk(test))
        case ast.Expr(value=ast.Constant(value=str())):
            return True
    return False


def _own_modules(tree: ast.Module) -> set[str]:
    """Return the imported modules that are not installed here: files of the submission's own.

    They are `{"util", ".io"}` if the code has `import torch, util` and `from .io import load`, and torch is installed.
    """
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").split(".")[0] if not node.level else f".{node.module or ''}")
    return {name for name in names if name.startswith(".") or util.find_spec(name) is None}


def _without_people(code: str, people: Iterable[str], kept: set[str], attributes: Collection[str]) -> str:
    """Put `student` in place of people's names and e-mail addresses, and 0 for their numbers.

    For the author `Ada_1234567`, `ada_total = 1234567` becomes `student_total = 0`. Strings are changed as well.

    Args:
        code: the code.
        people: the names of its authors.
        kept: the words that stay, even if somebody has such a name.
        attributes: the attributes in the code, whose words stay, too.
    """
    code = _ADDRESS.sub(_SOMEBODY, code)
    known = kept | {part for name in attributes for part in name.split("_")}
    for person in people:
        for number in re.findall(rf"\d{{{_LEAST_DIGITS},}}", person):
            code = code.replace(number, "0")
    parts = {
        part.lower()
        for person in people
        for pattern in (r"[^\W\d_]+", r"[^\W_]+")  # ada, and ada02
        for part in re.findall(pattern, person)
    }
    for word in sorted(parts - known, key=len, reverse=True):
        if len(word) >= _LEAST_LETTERS and not word.isdigit():
            code = re.sub(rf"(?<![^\W\d_]){word}(?![^\W\d_])", _SOMEBODY, code, flags=re.IGNORECASE)
    return code


def tokens_of(source: bytes) -> tuple[str, str, tuple[tuple[int, ...], ...]]:
    """Return what copydetect needs to compare a file with others: its text and its tokens.

    copydetect, which must be installed, writes `V` for each name of a variable, so that renaming changes nothing.

    Returns:
        The text; its tokens as one string; and copydetect's rows of numbers, by which it finds the place of a token in
        the text.
    """
    from copydetect.utils import filter_code

    text = source.decode("utf-8", "replace").replace("\0", "")
    tokens, places = filter_code(text, "a.py")
    return text, str(tokens), tuple(tuple(map(int, row)) for row in places)
