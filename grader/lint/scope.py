"""A check file as a syntax tree: what its names are imported as, and which expressions are student code."""

from __future__ import annotations

import ast
import re
from collections import Counter

Function = ast.FunctionDef | ast.AsyncFunctionDef

CHECK, FIXTURE = "grader.check.check", "pytest.fixture"
"""The decorators of what pytest calls, and gives fixtures by the names of its parameters."""


class Source:
    """A check file.

    Attributes:
        nodes: all nodes of its syntax tree.
        functions: all functions, also those inside others.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.nodes = list(ast.walk(tree))
        self.functions = [node for node in self.nodes if isinstance(node, Function)]
        self._imports: dict[str, str] = {}
        for name, (module, inner) in (row for node in self.nodes for row in imported(node).items()):
            if not module.startswith("."):
                self._imports[name] = f"{module}.{inner}" if inner else module

    def path(self, node: ast.AST | None) -> str:
        """What an expression or the function that it calls is imported as, such as "torch.no_grad"; "" otherwise."""
        match node:
            case ast.Call(func=function):
                return self.path(function)
            case ast.Name(id=name):
                return self._imports.get(name, "")
            case ast.Attribute(value=ast.Name() | ast.Attribute() as value, attr=name) if base := self.path(value):
                return f"{base}.{name}"
        return ""

    def decorator(self, function: Function, *paths: str) -> ast.expr | None:
        """The decorator of a function that is imported as one of these."""
        return next((one for one in function.decorator_list if self.path(one) in paths), None)


def imported(node: ast.AST) -> dict[str, tuple[str, str]]:
    """What each name of an import statement is imported as: a module, and a name of it or ""."""
    if isinstance(node, ast.Import):  # of `import a.b` the name is `a`
        names = [(one.asname or one.name.split(".")[0], one) for one in node.names]
        return {name: (one.name if one.asname else name, "") for name, one in names}
    if isinstance(node, ast.ImportFrom):
        module = "." * node.level + (node.module or "")
        return {one.asname or one.name: (module, one.name) for one in node.names}
    return {}


def parameters(function: Function) -> list[str]:
    """The names of a function's parameters."""
    args = function.args
    return [one.arg for one in (*args.posonlyargs, *args.args, *args.kwonlyargs)]


_ANY, _CLASS = re.compile(""), re.compile(r"[A-Z]\w*[a-z]\w*")
_MODULES = {"student", "reference", "probe"}


class Scope:
    """One function, and which of its expressions are student code. A name is what its only assignment gives it.

    Args:
        function: of a check file.
    """

    def __init__(self, function: Function) -> None:
        self.function = function
        self.nodes = list(ast.walk(function))
        arguments = [node.arg for node in self.nodes if isinstance(node, ast.arg)]
        stored = [node.id for node in self.nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)]
        bound = Counter([*arguments, *stored])
        self._modules = _MODULES & {*arguments}
        self._values: dict[str, ast.expr] = {}
        for node in self.nodes:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if bound[name] == 1:
                    self._values[name] = value

    def _meant(self, node: ast.AST) -> ast.AST:
        """What a name stands for; anything else as it is."""
        for _ in range(3):  # a name of a name
            if isinstance(node, ast.Name):
                node = self._values.get(node.id, node)
        return node

    def _is_module(self, node: ast.AST) -> bool:
        """Whether an expression is `student`, `reference` or `probe`."""
        module = self._meant(node)
        return isinstance(module, ast.Name) and module.id in self._modules

    def _is_function(self, node: ast.AST) -> bool:
        """Whether it is a function or class of one of these, such as `student.f`."""
        function = self._meant(node)
        return isinstance(function, ast.Attribute) and self._is_module(function.value)

    def _is_result(self, node: ast.AST, names: re.Pattern[str]) -> bool:
        """Whether it is what such a function returned that has such a name; what a class returns is an object."""
        call = self._meant(node)
        function = self._meant(call.func) if isinstance(call, ast.Call) else None
        return isinstance(function, ast.Attribute) and self._is_function(function) and bool(names.match(function.attr))

    def calls_student(self, node: ast.AST) -> bool:
        """Whether student code is called somewhere in a node: directly, or by what is handed student code."""
        for call in (inner for inner in ast.walk(node) if isinstance(inner, ast.Call)):
            given = [*call.args, *(word.value for word in call.keywords)]
            if self._is_function(call.func) or any(self._is_module(one) or self._is_function(one) for one in given):
                return True
            # A result that is called is an object; and so is what a class makes, with its methods.
            owner = call.func.value if isinstance(call.func, ast.Attribute) else call.func
            if self._is_result(owner, _CLASS if owner is not call.func else _ANY):
                return True
        return False
