"""A check file as a syntax tree, what its names stand for, and a finding in it."""

from __future__ import annotations

import ast
from dataclasses import dataclass

Function = ast.FunctionDef | ast.AsyncFunctionDef

PROBE = "write a probe: a function of the probe file that does this beside the student's code"
HEARD = "call `heard(student.f, ...)`, which returns what the call printed and what it warned of"


@dataclass(frozen=True, order=True)
class Finding:
    """A line of a check file that does not do what it says.

    Attributes:
        line: its number.
        what: what has no effect, or is not graded.
        instead: what to write.
    """

    line: int
    what: str
    instead: str

    def __str__(self) -> str:
        return f"{self.what}; {self.instead}"


class Source:
    """A check file.

    Attributes:
        nodes: all nodes of its syntax tree.
        functions: all functions, also those inside others.
        top: the functions at the top level, by name.
        classes: the names of its classes.
        local: those of its functions and classes.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.nodes = list(ast.walk(tree))
        self.functions = [node for node in self.nodes if isinstance(node, Function)]
        self.top = {node.name: node for node in tree.body if isinstance(node, Function)}
        self.classes = {node.name for node in self.nodes if isinstance(node, ast.ClassDef)}
        self.local = self.classes | {node.name for node in self.functions}
        self._imports: dict[str, str] = {}
        for node in self.nodes:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    name = alias.asname or alias.name.split(".")[0]
                    self._imports[name] = alias.name if alias.asname else name
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                self._imports |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}

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

    def decorator(self, function: Function, path: str) -> ast.expr | None:
        """The decorator of a function that is imported as this."""
        return next((one for one in function.decorator_list if self.path(one) == path), None)

    def is_check(self, function: ast.AST) -> bool:
        """Whether a node is a function with the decorator `@check`."""
        return isinstance(function, Function) and self.decorator(function, "grader.check.check") is not None

    def is_fixture(self, function: ast.AST) -> bool:
        """Whether a node is a fixture."""
        return isinstance(function, Function) and self.decorator(function, "pytest.fixture") is not None

    def is_pytests(self, function: ast.AST) -> bool:
        """Whether pytest calls a function, and so gives it fixtures by the names of its parameters."""
        return self.is_check(function) or self.is_fixture(function)


def parameters(function: Function) -> list[str]:
    """The names of a function's parameters."""
    args = function.args
    return [one.arg for one in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
