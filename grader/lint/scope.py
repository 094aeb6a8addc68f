"""A check file as a syntax tree, and the kinds that names and expressions in its functions certainly have."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum, auto

Function = ast.FunctionDef | ast.AsyncFunctionDef

_CLASS = re.compile(r"[A-Z]\w*[a-z]\w*")

CHECK, FIXTURE = "grader.check.check", "pytest.fixture"
"""The decorators of what pytest calls, and gives fixtures by the names of its parameters."""


class CheckSource:
    """The syntax tree of a check file, with the names that it imports and defines.

    Args:
        tree: its syntax tree.
        solution: the text of a solution, which says what is a class; without one, a name in capitals and small letters
            is taken for one.

    Attributes:
        nodes: all nodes of its syntax tree.
        functions: all functions, also those inside others.
        top: the functions at the top level, by name.
        classes: the names of its classes.
        local: the names of its functions and classes.
    """

    def __init__(self, tree: ast.Module, solution: str = "") -> None:
        self._is_class = {
            node.name: isinstance(node, ast.ClassDef)
            for node in _body_of(solution)
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        }
        self.nodes = list(ast.walk(tree))
        self.functions = [node for node in self.nodes if isinstance(node, Function)]
        self.top = {node.name: node for node in tree.body if isinstance(node, Function)}
        self.classes = {node.name for node in self.nodes if isinstance(node, ast.ClassDef)}
        self.local = self.classes | {node.name for node in self.functions}
        self._imports: dict[str, str] = {}
        for name, (module, inner) in (row for node in self.nodes for row in imported_names(node).items()):
            if not module.startswith("."):
                self._imports[name] = f"{module}.{inner}" if inner else module

    def import_path(self, node: ast.AST | None) -> str:
        """Return the import path of an expression, such as "torch.no_grad"; else "".

        After `from torch import nn`, the import path of `nn.Linear`, and of the call `nn.Linear(2, 3)`, is
        "torch.nn.Linear".
        """
        match node:
            case ast.Call(func=function):
                return self.import_path(function)
            case ast.Name(id=name):
                return self._imports.get(name, "")
            case ast.Attribute(value=ast.Name() | ast.Attribute() as value, attr=name) if base := self.import_path(
                value
            ):
                return f"{base}.{name}"
        return ""

    def is_class(self, name: str) -> bool:
        """Return whether a name in the student's file is that of a class.

        A call of a class makes an object.
        """
        return self._is_class.get(name, _CLASS.fullmatch(name) is not None)

    def decorator(self, function: Function, *paths: str) -> ast.expr | None:
        """Return a function's first decorator that has one of these import paths; else None."""
        return next((one for one in function.decorator_list if self.import_path(one) in paths), None)


def _body_of(text: str) -> list[ast.stmt]:
    """Return the statements of a file; an empty list if it is not valid Python."""
    try:
        return ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError):
        return []


def imported_names(node: ast.AST) -> dict[str, tuple[str, str]]:
    """Return the names that an import statement binds, with where they come from.

    `from torch import nn as n` binds `{"n": ("torch", "nn")}`, and `import numpy as np` binds `{"np": ("numpy", "")}`.
    Return {} for any other node.

    Returns:
        The module and the name in it, by the bound name; the second is "" if the module itself is bound.
    """
    if isinstance(node, ast.Import):  # of `import a.b` the name is `a`
        names = [(one.asname or one.name.split(".")[0], one) for one in node.names]
        return {name: (one.name if one.asname else name, "") for name, one in names}
    if isinstance(node, ast.ImportFrom):
        module = "." * node.level + (node.module or "")
        return {one.asname or one.name: (module, one.name) for one in node.names}
    return {}


def parameters(function: Function) -> list[str]:
    """Return the names of a function's parameters."""
    args = function.args
    return [one.arg for one in (*args.posonlyargs, *args.args, *args.kwonlyargs)]


_MADE = re.compile(r"torch\.(nn|optim|utils\.data)\.(\w+\.)*(?!(Parameter|Buffer)$)[A-Z]\w+|torch\.Generator")


class ExprKind(Enum):
    """The kind of an expression, where it is certain."""

    MODULE = auto()
    """`student`, `reference` or `probe`."""
    FUNCTION = auto()
    """An attribute of one of these."""
    OBJECT = auto()
    """What a class of the student's makes: a proxy."""
    MEMBER = auto()
    """An attribute of such an object: a method, a value or another proxy."""
    RESULT = auto()
    """What a call returned: a value, or a proxy if it is called itself."""
    DERIVED = auto()
    """Calculated from a result."""
    FOLDER = auto()
    """A path in the check process."""
    MADE = auto()
    """A model, optimizer, loader or generator of the check's own."""
    LOCAL = auto()
    """A function or class of the check file."""
    TEXTS = auto()
    """An array of NumPy with text."""


_REMOTE = {ExprKind.MODULE, ExprKind.FUNCTION, ExprKind.OBJECT}
_GIVEN: dict[str, ExprKind | None] = {
    **dict.fromkeys(("student", "reference", "probe"), ExprKind.MODULE),
    **dict.fromkeys(("tmp_path", "tmp_path_factory", "tmpdir"), ExprKind.FOLDER),
    "rng": ExprKind.MADE,
}
"""What parameters are by their names."""
_MEMBERS: dict[ExprKind | None, ExprKind] = {
    ExprKind.MODULE: ExprKind.FUNCTION,
    ExprKind.OBJECT: ExprKind.MEMBER,
    ExprKind.RESULT: ExprKind.DERIVED,
    ExprKind.DERIVED: ExprKind.DERIVED,
}
"""What an attribute or an item of each is."""
_NUMBERS = {ExprKind.RESULT, ExprKind.DERIVED}


class Scope:
    """One function of a check file, with the kinds of its names: those on which all assignments agree.

    Args:
        source: the file.
        function: a function of it.
        known: the kinds of its parameters, by name.
    """

    def __init__(self, source: CheckSource, function: Function, known: Mapping[str, ExprKind | None]) -> None:
        self.source = source
        self.function = function
        self.nodes = list(ast.walk(function))
        self.calls = [node for node in self.nodes if isinstance(node, ast.Call)]
        assigned = {target: value for node in self.nodes for target, value in _assignments(node)}
        values = defaultdict[str, list[ast.expr | None]](list)
        for node in self.nodes:
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                values[node.id].append(assigned.get(node))
        given = {node.arg: known.get(node.arg) for node in self.nodes if isinstance(node, ast.arg)}
        self._kinds: dict[str, ExprKind | None] = dict(given)
        for _ in range(3):  # names that are made of names
            for name in values.keys() - given.keys():
                kinds = {self.kind(value) for value in values[name]}
                self._kinds[name] = kinds.pop() if len(kinds) == 1 else None

    def runs_in_worker(self, call: ast.Call) -> bool:
        """Return whether a call sends its arguments to a worker, as `student.f(x)` does.

        `torch.sum(x)` runs in the check process.
        """
        return self.kind(call.func) in (
            ExprKind.FUNCTION,
            ExprKind.OBJECT,
            ExprKind.MEMBER,
            ExprKind.RESULT,
        )

    def calls_student(self, node: ast.AST) -> bool:
        """Return whether a node contains a call that may run student code.

        It calls student code, or passes student code as an argument.
        """
        calls = [call for call in ast.walk(node) if isinstance(call, ast.Call)]
        return any(self.runs_in_worker(call) or _REMOTE.intersection(map(self.kind, arguments(call))) for call in calls)

    def uses_grad_in_vain(self, node: ast.Attribute) -> bool:
        """Return whether a check reads or sets `x.grad` of a tensor x without effect.

        After `student.f(x)`, a check that reads `x.grad` finds nothing: student code gets a copy of x. The result is
        False if the check calls `backward`, sets the `x.grad` that it reads, or never passes x to student code. It is
        also False if the check sets `x.grad` after the last such call, as for its own optimizer.
        """
        if any(getattr(call.func, "attr", "") == "backward" for call in self.calls):
            return False
        tensor, whole = ast.unparse(node.value), ast.unparse(node)
        handed = [value for call in self.calls if self.runs_in_worker(call) for value in arguments(call)]
        lines = [value.lineno for value in handed if ast.unparse(value) == tensor]
        if isinstance(node.ctx, ast.Store):
            return any(line > node.lineno for line in lines)
        stored = [one for one in self.nodes if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store)]
        return bool(lines) and whole not in map(ast.unparse, stored)

    def kind(self, node: ast.AST | None) -> ExprKind | None:
        """Return the kind of an expression, or None if that is not certain."""
        match node:
            case ast.Name(id=name):
                return self._kinds.get(name, ExprKind.LOCAL if name in self.source.local else None)
            case ast.Lambda():
                return ExprKind.LOCAL
            case ast.Attribute(value=value) | ast.Subscript(value=value):
                return _MEMBERS.get(self.kind(value))
            case ast.Call():
                return self._kind_of_call(node)
            case ast.BinOp() | ast.UnaryOp() | ast.JoinedStr() | ast.FormattedValue():
                return _combined_kind(set(map(self.kind, ast.iter_child_nodes(node))))
        return None

    def _kind_of_call(self, call: ast.Call) -> ExprKind | None:
        """Return the kind of value that a call certainly returns; None if that is unknown.

        `student.f(x)` returns `ExprKind.RESULT`, and `student.Model()` returns `ExprKind.OBJECT`.
        """
        kind, name = self.kind(call.func), getattr(call.func, "attr", getattr(call.func, "id", ""))
        kinds = set(map(self.kind, arguments(call)))
        if self.runs_in_worker(call):
            if kind is ExprKind.FUNCTION and self.source.is_class(name):
                return ExprKind.OBJECT
            # A method, or a function that takes an object, may well return another object.
            return (
                None if (kind is ExprKind.MEMBER and name != "forward") or ExprKind.OBJECT in kinds else ExprKind.RESULT
            )
        if (kind is ExprKind.LOCAL and name in self.source.classes) or _MADE.fullmatch(self.source.import_path(call)):
            return ExprKind.MADE
        if self.source.import_path(call) in ("numpy.array", "numpy.asarray") and _begins_with_text(call.args):
            return ExprKind.TEXTS
        if name in ("str", "joinpath", "mktemp", "as_posix", "resolve"):
            return _combined_kind({*kinds, self.kind(getattr(call.func, "value", None))})
        return _combined_kind({*kinds, kind} - {ExprKind.FOLDER})


def _begins_with_text(args: Sequence[ast.expr]) -> bool:
    """Return whether the first argument is a list that begins with a str.

    `["a"]` and `[["a", 1]]` do; `[1]` does not.
    """
    first: ast.expr | None = args[0] if args else None
    while isinstance(first, (ast.List, ast.Tuple)):
        first = first.elts[0] if first.elts else None
        if isinstance(first, ast.Constant):
            return isinstance(first.value, str)
    return False


def _combined_kind(parts: set[ExprKind | None]) -> ExprKind | None:
    """Return the kind of an expression that is calculated from parts of these kinds.

    It is FOLDER if a part is a folder; DERIVED if a part is a result of student code, or derived from one; else None.
    """
    return ExprKind.FOLDER if ExprKind.FOLDER in parts else ExprKind.DERIVED if parts & _NUMBERS else None


def scopes(source: CheckSource) -> list[Scope]:
    """Return a scope for each function in a check file.

    A parameter has the kind of the fixture with its name, or of the argument that a call in the file passes for it.
    """
    known = {function: dict(_GIVEN) for function in source.functions}
    for _ in range(2):
        for scope in [Scope(source, function, known[function]) for function in source.functions]:
            for call in scope.calls:
                if isinstance(call.func, ast.Name) and (helper := source.top.get(call.func.id)):
                    given = dict(zip(parameters(helper), call.args, strict=False))
                    given |= {word.arg: word.value for word in call.keywords if word.arg}
                    kinds = {name: scope.kind(value) for name, value in given.items()}
                    known[helper] |= {name: kind for name, kind in kinds.items() if kind in _REMOTE}
            returned = [node.value for node in scope.nodes if isinstance(node, (ast.Return, ast.Yield))]
            if len(returned) == 1 and source.decorator(scope.function, FIXTURE):
                kind = scope.kind(returned[0])
                for function in source.functions if kind in {*_REMOTE, ExprKind.MADE, ExprKind.LOCAL} else ():
                    if source.decorator(function, CHECK, FIXTURE):
                        known[function].setdefault(scope.function.name, kind)
    return [Scope(source, function, known[function]) for function in source.functions]


def arguments(call: ast.Call) -> list[ast.expr]:
    """Return all arguments of a call, and the items of lists and tuples among them.

    For `f(x, [y, z], k=w)` they are `x`, `[y, z]`, `w`, `y` and `z`.
    """
    values = [*call.args, *(word.value for word in call.keywords)]
    for value in values:  # which grows
        if isinstance(value, (ast.List, ast.Tuple)):
            values += value.elts
    return values


def _assignments(node: ast.AST) -> Iterable[tuple[ast.expr, ast.expr | None]]:
    """Return each target of an assignment with the expression that is assigned to it.

    For `a, b = f(), 2` these are `a` with `f()` and `b` with `2`; for `a, b = f()` both have `f()[0]`.
    """
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
            return zip(targets, values, strict=False)
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=value):
            return [(one, ast.Subscript(value, ast.Constant(0), ast.Load())) for one in targets]
        case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=value):
            return [(target, value)]
    return []
