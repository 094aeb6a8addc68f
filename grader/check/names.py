"""Names in a syntax tree: which ones a statement binds, changes or deletes, and what a dotted name stands for."""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple


def words_of(text: str) -> frozenset[str]:
    """Return the words in a text as a frozenset."""
    return frozenset(text.split())


READABLE_PACKAGES = words_of(
    """__future__ abc array bisect cmath collections contextlib copy dataclasses datetime decimal enum fractions
    functools heapq itertools json math numbers numpy operator pprint random re statistics string sys textwrap time
    torch typing warnings"""
)
"""Packages whose use the source shows. Others give access to files, processes, threads or Python's internals."""

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = (*FUNCTIONS, ast.ClassDef)

_EXPRESSIONS = (ast.Name, ast.Attribute, ast.Constant, ast.Subscript, ast.Tuple, ast.List)
ANNOTATION_NODES = (*_EXPRESSIONS, ast.BinOp, ast.BitOr, ast.Load)
"""What an annotation is made of that only names classes."""

Imports = Mapping[str, Sequence[str]]
"""What the names of a file may stand for: a name can be imported more than once."""


class Imported(NamedTuple):
    """A name that an import binds, "*" for all of a module, and what it stands for.

    For `import numpy as np` it is ("np", "numpy"), and for `from torch import relu` it is ("relu", "torch.relu").
    """

    name: str
    path: str


def object_at(path: str) -> Any:
    """Return the object at a path such as "torch.nn.Linear", or None.

    Only loaded modules are searched; nothing is imported.
    """
    first, *rest = path.split(".")
    value: Any = sys.modules.get(first)
    for part in rest:
        value = vars(value).get(part) if isinstance(value, types.ModuleType) else getattr(value, part, None)
    return value


def imported_by(node: ast.AST) -> Iterator[Imported]:
    """Yield the names that an import statement binds, each with the path of what is imported."""
    match node:
        case ast.Import(names=names):
            for each in names:
                root = each.name.split(".")[0]
                yield Imported(each.asname or root, each.name if each.asname else root)
        case ast.ImportFrom(module=module, names=names, level=level):
            for each in names:
                yield Imported(each.asname or each.name, f"{'.' * level}{module or ''}.{each.name}")


def assigned_names(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a top-level statement always binds when it runs.

    For `a = b = 1` these are "a" and "b". For `if c: a = 1` there is no such name.
    """
    match statement:
        case ast.Assign(targets=targets):
            yield from (target.id for target in targets if isinstance(target, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
            yield name
        case ast.Import() | ast.ImportFrom():
            yield from (each.name for each in imported_by(statement))
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name


def bound_names(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node of a syntax tree binds, without those of nodes inside it.

    For `def f(x): y = 1` it is "f", and for `import numpy as np` it is "np". Nodes that bind names are definitions,
    assignments, imports and patterns.
    """
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Name(id=name, ctx=ast.Store()):
            yield name
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.MatchMapping(rest=str(name)):
            yield name
        case ast.Import() | ast.ImportFrom():
            yield from (each.name for each in imported_by(node))


def deleted_names(node: ast.AST) -> Iterator[str]:
    """Yield the names and attributes that a node deletes.

    An `except` clause deletes its name at its end.
    """
    match node:
        case ast.Name(id=name, ctx=ast.Del()) | ast.Attribute(attr=name, ctx=ast.Del()):
            yield name
        case ast.ExceptHandler(name=str(name)):
            yield name


def names_changed_by(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a top-level statement binds, or whose values it may mutate.

    `table["o"] = f` mutates the value of `table`.
    """
    if isinstance(statement, DEFINITIONS):
        yield statement.name
        return
    for node in ast.walk(statement):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()) | ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()):
                yield name
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name))):
                yield name


def attributes_and_globals_changed_by(statement: ast.stmt) -> Iterator[str]:
    """Yield the names of attributes and globals that a statement may change.

    For `x.rows = 1` these are "rows" and "x". For `def f(): table["o"] = 1`, and for `def f(): table.sort()`, it is
    "table".
    """
    outside = set(_free_names_in(statement, ())) if isinstance(statement, DEFINITIONS) else set[int]()
    for node in ast.walk(statement):
        match node:
            case ast.Attribute(value=value, attr=name, ctx=ast.Store()):
                yield name
                if isinstance(value, ast.Name):
                    yield value.id
            case ast.Subscript(value=ast.Name(id=name) as root, ctx=ast.Store()) if id(root) in outside:
                yield name
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name) as root)) if id(root) in outside:
                yield name


def may_rebind(tree: ast.Module, name: str) -> bool:
    """Return whether a file may assign or delete a name or an attribute, such as `__name__` of a module."""
    defined = {node.name for node in ast.walk(tree) if isinstance(node, DEFINITIONS)}
    stored = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    stored |= {each.arg for each in ast.walk(tree) if isinstance(each, ast.arg)}
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=of), attr=attr, ctx=ast.Store() | ast.Del()) if attr == name:
                imported = {each.name for node in ast.walk(tree) for each in imported_by(node)}
                if of not in defined - stored - imported:  # a function is not a module
                    return True
            case ast.Attribute(attr=attr, ctx=ast.Store() | ast.Del()) if attr == name:
                return True
            case ast.ExceptHandler(name=bound) | ast.MatchAs(name=bound) | ast.MatchStar(name=bound) if bound == name:
                return True
            case ast.MatchMapping(rest=bound) if bound == name:
                return True
            case ast.ImportFrom() | ast.Import() if name == "__name__" and any(
                each.name == name for each in imported_by(node)
            ):
                return True
    return name in defined | stored


def last_name(function: ast.expr) -> str:
    """Return the last name of a called expression, such as "relu" of `torch.relu`; "" if it has none."""
    match function:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def paths_of_attribute(value: ast.expr, name: str, imports: Imports, outside: Collection[int] | None) -> list[str]:
    """Return the dotted paths for which `value.name` can stand, such as "torch.relu".

    If `value` is not a module, its type is not known: ".relu" is a method of a tensor or of an object of PyTorch's, and
    "pandas.relu" one of another library's.

    Args:
        value: the expression whose attribute is read.
        name: the name of the attribute.
        imports: the paths that imports bind, by name.
        outside: the ids of the nodes of names that are not local; None if no name is local.
    """
    names, root = [name], value
    while isinstance(root, ast.Attribute):
        names.append(root.attr)
        root = root.value
    if isinstance(root, ast.Name) and root.id in imports and (outside is None or id(root) in outside):
        return [".".join([path, *reversed(names)]) for path in imports[root.id]]
    # What a library gives that is not PyTorch has methods of its own.
    while isinstance(root, (ast.Call, ast.Subscript, ast.Attribute)):
        root = root.func if isinstance(root, ast.Call) else root.value
    known = isinstance(root, ast.Name) and (outside is None or id(root) in outside)
    libraries = {path.split(".")[0] for path in imports.get(root.id, ["torch"])} if known else {"torch"}  # type: ignore[attr-defined]
    return [f".{name}" if library == "torch" else f"{library}.{name}" for library in sorted(libraries)]


def paths_in(node: ast.AST, imports: Imports) -> Iterator[tuple[str, int]]:
    """Yield (dotted path, line) for each name that code mentions.

    `def f(x): return np.exp(x.sum())` mentions ("numpy.exp", 1) and (".sum", 1). A class in an annotation does not
    count.
    """
    nodes = list(ast.walk(node))
    outside = set(_free_names_in(node, ()))
    stars = [path.removesuffix("*") for path in imports.get("*", ())]
    notes = [getattr(each, field, None) for each in nodes for field in ("annotation", "returns")]
    of_types = {id(each) for note in notes if note is not None for each in ast.walk(note)}
    roots: set[int] = set()  # ids of names of packages that begin a path
    for each in nodes:
        paths: list[str] = []
        match each:
            case ast.Name(id=name, ctx=ast.Load()) if id(each) in outside and id(each) not in roots:
                paths = [*imports.get(name, [f"builtins.{name}"])]
                paths += [star + name for star in stars if name not in imports]
            case ast.Attribute(value=value, attr=name):
                paths = paths_of_attribute(value, name, imports, outside)
                if isinstance(value, ast.Name) and any(path in READABLE_PACKAGES for path in imports.get(value.id, ())):
                    roots.add(id(value))
            case ast.Call(func=ast.Name(id="getattr"), args=[value, ast.Constant(value=str(name)), *_]):
                paths = paths_of_attribute(value, name, imports, outside)
            case ast.MatchClass(kwd_attrs=names):
                paths = [f".{name}" for name in names]
            case ast.BinOp(op=ast.MatMult()) | ast.AugAssign(op=ast.MatMult()):
                paths = [".__matmul__"]  # numbers have all operators but this one
        for path in paths:
            if id(each) not in of_types or not isinstance(object_at(path), type):
                yield path, getattr(each, "lineno", 0)


def free_names(node: ast.AST) -> frozenset[int]:
    """Return the ids of the nodes of free names in code.

    A free name is not local to a function in that code: `y` in `def f(x): return x + y`.
    """
    return frozenset(_free_names_in(node, ()))


def _free_names_in(node: ast.AST, scopes: tuple[frozenset[str], ...]) -> Iterator[int]:
    """Yield the ids of the nodes of names that no scope around them binds.

    `scopes` has the names that each scope around the code binds. Functions and comprehensions in the code have scopes
    of their own.
    """
    within: set[int] = set()  # ids of the parts that are evaluated in a scope of their own, where `bound` is local
    bound = set[str]()
    match node:
        case ast.Name(id=name):
            if not any(name in scope for scope in scopes):
                yield id(node)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
            body = [node.body] if isinstance(node, ast.Lambda) else node.body
            within = {id(part) for part in body}
            bound = {each.arg for each in ast.iter_child_nodes(node.args) if isinstance(each, ast.arg)}
            bound = bound.union(*map(_local_names, body))
            inside = (each for part in body for each in ast.walk(part))
            bound = bound.difference(*(each.names for each in inside if isinstance(each, ast.Global)))
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            first = node.generators[0]
            targets = (each for part in node.generators for each in ast.walk(part.target))
            bound = {each.id for each in targets if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
            yield from _free_names_in(first.iter, scopes)
            inner = (*scopes, frozenset(bound))
            parts = [each for each in ast.iter_child_nodes(node) if each is not first]
            for part in (*parts, first.target, *first.ifs):
                yield from _free_names_in(part, inner)
            return
        case _:  # of a class, too: what stands in it may be read before it is bound there
            pass
    for part in ast.iter_child_nodes(node):
        yield from _free_names_in(part, (*scopes, frozenset(bound)) if id(part) in within else scopes)


def _local_names(node: ast.AST) -> set[str]:
    """Return the names that the code of a function binds.

    Names that only functions within it bind are left out.
    """
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Lambda():
            return set()
        case ast.Name(id=name):
            return set() if isinstance(node.ctx, ast.Load) else {name}
        case ast.NamedExpr(target=ast.Name(id=name)):
            return {name} | _local_names(node.value)
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return set[str]().union(*map(_local_names, _parts_without_targets(node)))
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            return {name}.union(*map(_local_names, ast.iter_child_nodes(node)))
    return set[str]().union(*map(_local_names, ast.iter_child_nodes(node)))


def _parts_without_targets(node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> Iterator[ast.AST]:
    """Yield the parts of a comprehension except the targets of its loops."""
    for part in ast.iter_child_nodes(node):
        if isinstance(part, ast.comprehension):
            yield from (part.iter, *part.ifs)
        else:
            yield part


def names_in_annotations(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of names in the annotation of an argument or a return value.

    For `x: dict[str, Tensor]` these are `dict`, `str` and `Tensor`. Yield nothing if the annotation has calls or
    strings.
    """
    note = node.annotation if isinstance(node, ast.arg) else node.returns if isinstance(node, FUNCTIONS) else None
    if note is not None and all(isinstance(part, ANNOTATION_NODES) for part in ast.walk(note)):
        yield from (part for part in ast.walk(note) if isinstance(part, ast.Name))


def parts_of_annotation(note: ast.expr) -> Iterator[ast.AST]:
    """Yield the parts of an annotation: `dict`, `str`, `int` and `None` of `dict[str, int] | None`."""
    match note:
        case ast.Subscript(value=value, slice=inner):
            yield from (*parts_of_annotation(value), *parts_of_annotation(inner))
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part in parts:
                yield from parts_of_annotation(part)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            yield from (*parts_of_annotation(left), *parts_of_annotation(right))
        case _:
            yield note
