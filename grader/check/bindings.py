"""What the files of a submission bind to which name, by their text: definitions, values, imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

_NEVER = ("__name__ == '__main__'", "'__main__' == __name__", "TYPE_CHECKING", "typing.TYPE_CHECKING")
"""Conditions that do not hold while a submission is imported, as Python writes them."""


@dataclass
class Module:
    """A file of the student's.

    Attributes:
        file: its name.
        package: the package that relative imports start from, as parts.
        bound: what its top gives each name: definitions, values, and statements that change what a name stands for.
        imports: what a name was imported as.
        stars: modules of which it imports everything.
        loose: statements of the top that give nothing a name.
        too_deep: whether it nests too deeply to be read here.
    """

    file: str
    package: list[str]
    bound: dict[str, list[ast.AST]] = field(default_factory=dict)
    imports: dict[str, str] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    loose: list[ast.AST] = field(default_factory=list)
    too_deep: bool = False


def read_module(file: str, content: bytes) -> tuple[Module, set[str]]:
    """What a file binds, and the names of attributes that its classes and objects have."""
    module = Module(file, file.removesuffix(".py").split("/")[:-1])
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):
        return module, set()
    except (RecursionError, MemoryError):
        module.too_deep = True
        return module, set()
    for statement in _top(tree.body):
        _take(module, statement)
    return module, {name for node in ast.walk(tree) for name in _attributes(node)}


def never_runs(branch: ast.If) -> bool:
    """Whether the first part of a branch never runs while a submission is imported."""
    return ast.unparse(branch.test) in _NEVER


def module_name(file: str) -> str:
    """The name by which a file is imported."""
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _top(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run when a file is imported, those in branches and blocks too."""
    for statement in body:
        if isinstance(statement, ast.If) and never_runs(statement):
            yield from _top(statement.orelse)
            continue
        yield statement
        if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for inner in ("body", "orelse", "finalbody"):
                yield from _top(getattr(statement, inner, []))
            for handler in getattr(statement, "handlers", []):
                yield from _top(handler.body)


def _take(module: Module, statement: ast.stmt) -> None:
    """Note what a statement at the top of a file binds."""
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        module.imports.update(_imported(statement, module.package, module.stars))
    elif isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        module.bound.setdefault(statement.name, []).append(statement)
    elif isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Delete)):
        # `table["o"] = torch.outer` changes what `table` comes to.
        targets = statement.targets if isinstance(statement, (ast.Assign, ast.Delete)) else [statement.target]
        for name in {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}:
            module.bound.setdefault(name, []).append(statement)
    elif isinstance(statement, (ast.For, ast.AsyncFor, ast.With, ast.AsyncWith)):
        heads = [statement.iter] if isinstance(statement, (ast.For, ast.AsyncFor)) else []
        heads += [] if isinstance(statement, (ast.For, ast.AsyncFor)) else [one.context_expr for one in statement.items]
        for name in _stored([statement]):
            module.bound.setdefault(name, []).extend(heads)
        module.loose.extend(heads)
    elif isinstance(statement, ast.Expr):
        module.loose.append(statement)
        # `table.append(torch.outer)`, too; what only calls functions changes none of them.
        call = statement.value
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and isinstance(call.func.value, ast.Name)
        ):
            module.bound.setdefault(call.func.value.id, []).append(statement)


def _imported(statement: ast.Import | ast.ImportFrom, package: Sequence[str], stars: list[str]) -> dict[str, str]:
    if isinstance(statement, ast.Import):
        roots = {one.name.split(".")[0]: one.name.split(".")[0] for one in statement.names if not one.asname}
        return roots | {one.asname: one.name for one in statement.names if one.asname}
    above = package[: len(package) - (statement.level - 1)] if statement.level else []
    base = ".".join((*above, *([statement.module] if statement.module else [])))
    stars.extend(base for one in statement.names if one.name == "*")
    return {one.asname or one.name: f"{base}.{one.name}".lstrip(".") for one in statement.names if one.name != "*"}


def locals_of(body: Sequence[ast.AST], package: Sequence[str]) -> dict[str, str]:
    """The names that a function binds itself, with what those stand for that it imports."""
    found = dict.fromkeys(_stored(body), "")
    globals_: set[str] = set()
    for node in _own_nodes(body):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= _imported(node, package, [])
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            globals_ |= set(node.names)
    return {name: path for name, path in found.items() if name not in globals_}


def _stored(body: Sequence[ast.AST]) -> Iterator[str]:
    for node in _own_nodes(body):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) or (
            isinstance(node, ast.ExceptHandler) and node.name
        ):
            yield str(node.name)
        elif isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name:
            yield node.name


def _own_nodes(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """All nodes of a function's body but those inside of other functions."""
    todo = list(body)
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            todo.extend(ast.iter_child_nodes(node))


def _attributes(node: ast.AST) -> Iterator[str]:
    """Names that a class of the student's has, or that are set on some object."""
    match node:
        case ast.ClassDef(body=body):
            yield from (one.name for one in body if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)))
            yield from _stored(body)
        case ast.Attribute(attr=name, ctx=ast.Store()):
            yield name
