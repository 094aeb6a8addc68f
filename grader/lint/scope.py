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


_CLASS = re.compile(r"[A-Z]\w*[a-z]\w*")
_MODULES = {"student", "reference", "probe"}


class Scope:
    """One function, and which of its expressions are student code. A name is what its only assignment gives it.

    Args:
        source: the file.
        function: a function of it.
    """

    def __init__(self, source: Source, function: Function) -> None:
        self.source = source
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

    def is_module(self, node: ast.AST) -> bool:
        """Whether an expression is `student`, `reference` or `probe`."""
        module = self._meant(node)
        return isinstance(module, ast.Name) and module.id in self._modules

    def is_function(self, node: ast.AST) -> bool:
        """Whether it is a function or class of one of these, such as `student.f`."""
        function = self._meant(node)
        return isinstance(function, ast.Attribute) and self.is_module(function.value)

    def is_result(self, node: ast.AST) -> bool:
        """Whether it is what such a function returned."""
        call = self._meant(node)
        return isinstance(call, ast.Call) and self.is_function(call.func)

    def is_object(self, node: ast.AST) -> bool:
        """Whether it is what such a class makes: a proxy."""
        call = self._meant(node)
        if not isinstance(call, ast.Call) or not self.is_function(call.func):
            return False
        function = self._meant(call.func)
        return isinstance(function, ast.Attribute) and _CLASS.fullmatch(function.attr) is not None

    def is_inside(self, node: ast.AST) -> bool:
        """Whether it is an attribute or an item of such an object, or of what the object holds."""
        inner = node
        while isinstance(inner, (ast.Attribute, ast.Subscript)):
            inner = inner.value
        return inner is not node and self.is_object(inner)

    def calls_student(self, node: ast.AST) -> bool:
        """Whether student code is called somewhere in a node: directly, or by what is handed student code."""
        return any(self._calls(call) for call in ast.walk(node) if isinstance(call, ast.Call))

    def _calls(self, call: ast.Call) -> bool:
        words = [word.value for word in call.keywords]
        if any(self.is_module(one) or self.is_function(one) or self.is_object(one) for one in (*call.args, *words)):
            return True
        function = call.func
        return any(kind(function) for kind in (self.is_function, self.is_result, self.is_object, self.is_inside))
