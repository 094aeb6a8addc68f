"""Which names of libraries a student's function mentions, by the text of the submission: it is read, and never run.

Looked at is all that the function can come to by name: itself, the helpers, classes and values of the student's own
that it names, also those of other files, with defaults, decorators and what a file does to them at its top. Annotations
and docstrings are no code. A name is followed to what it was imported as: `o` after `from torch import outer as o` is
`torch.outer`, a parameter of that name is not.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from grader.check.bindings import Module, locals_of, module_name, read_module

METHOD = "."
"""What the path of a method or attribute begins with, of which the text does not tell whose it is."""
UNWRITTEN = "?"
"""The same of a name that is not written out: nobody can tell which it is."""

_BY_NAME = {"getattr": 1, "attrgetter": 0, "methodcaller": 0}
"""Functions that take the name of an attribute, and at which place."""

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True)
class Mention:
    """A name of a library's that code mentions.

    Attributes:
        path: such as "torch.nn.functional.relu" or "builtins.sum"; "." and a name for a method, "?" and the function
            for what takes a name that is not written out.
        file: whose text it is.
        line: in that file.
    """

    path: str
    file: str
    line: int


class Text:
    """The text of a submission. A file that is no Python mentions nothing: whoever imports it does not load.

    Args:
        files: by relative name.

    Attributes:
        own: names of attributes that the student's own classes and objects have.
        unread: a file that nests too deeply to be read here, though a worker may load it; or "".
    """

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._modules: dict[str, Module] = {}
        self.own: set[str] = set()
        self.unread = ""
        for file, content in files.items():
            if file.endswith(".py"):
                module, own = read_module(file, content)
                self._modules[module_name(file)] = module
                self.own |= own
                self.unread = self.unread or (file if module.too_deep else "")

    def mentions(self, module: str, function: str = "") -> list[Mention]:
        """What a function of a module mentions, in the order of the text; all of the module without one."""
        home = self._modules[module]
        names = [function] if function else list(home.bound)
        places = (self._place(f"{module}.{name}") for name in names)
        found = self._reach([place for place in places if place is not None])
        # `from torch import outer` is an answer to "write `outer`", too.
        path = home.imports.get(function, "")
        return found if not path or self._place(path) else [*found, Mention(path, home.file, 0)]

    def loose(self, module: str) -> list[Mention]:
        """What is mentioned where a file is imported, and only to be done: no function comes to it by a name."""
        return self._reach([(module, "")])

    def _reach(self, start: Sequence[tuple[str, str]]) -> list[Mention]:
        found: dict[Mention, None] = {}
        todo, seen = list(start), set(start)

        def follow(path: str) -> bool:
            """Note what of the student's own a path leads to; False if it leads to none."""
            place = self._place(path)
            if place is not None and place not in seen:
                seen.add(place)
                todo.append(place)
            return place is not None

        while todo:
            name, bound = todo.pop(0)
            module = self._modules[name]
            reader = _Reader(name, module, follow, found)
            for node in module.bound[bound] if bound else module.loose:
                reader.visit(node)
        return sorted(found, key=lambda one: (one.file, one.line))

    def _place(self, path: str, deep: int = 0) -> tuple[str, str] | None:
        """The module and the name at its top that a path leads to, if they are the student's own."""
        parts = path.split(".")
        for cut in range(len(parts), 0, -1):
            name = ".".join(parts[:cut])
            module = self._modules.get(name)
            if module is None:
                continue
            if cut == len(parts):
                return (name, "") if deep == 0 else None
            first = parts[cut]
            if first in module.bound:
                return name, first
            onward = (
                [module.imports[first]] if first in module.imports else [f"{star}.{first}" for star in module.stars]
            )
            if deep < len(self._modules):  # files can import from each other in a circle
                for other in onward:
                    if (place := self._place(other, deep + 1)) is not None:
                        return place
            return None
        return None


class _Reader(ast.NodeVisitor):
    """Finds what one piece of code mentions.

    Args:
        name: of the module that it stands in.
        module: that module.
        follow: told each path that may lead to the student's own; gives whether it did.
        found: what is mentioned is put here.
    """

    def __init__(self, name: str, module: Module, follow: Callable[[str], bool], found: dict[Mention, None]) -> None:
        self._name, self._module, self._follow, self._found = name, module, follow, found
        self._scopes: list[dict[str, str]] = []

    def _note(self, path: str, node: ast.AST) -> None:
        self._found[Mention(path, self._module.file, getattr(node, "lineno", 0))] = None

    def _meaning(self, name: str) -> str:
        """What a name stands for, as a path; "" for a value of the function's own."""
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name]
        bound = f"{self._name}.{name}"
        if name in self._module.imports:
            self._follow(bound)  # what else the name may stand for
            return self._module.imports[name]
        if name in self._module.bound:
            return bound
        for star in self._module.stars:
            if self._follow(f"{star}.{name}"):
                return ""
        return f"builtins.{name}"

    def _name_or_path(self, path: str, node: ast.AST) -> None:
        if path and not self._follow(path):
            self._note(path, node)
            # A name that nothing binds may come from any module of which all is imported.
            if path.startswith("builtins."):
                for star in self._module.stars:
                    self._note(f"{star}.{path.removeprefix('builtins.')}", node)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._name_or_path(self._meaning(node.id), node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self._attribute(node, node.value, node.attr)

    def _attribute(self, node: ast.AST, value: ast.expr, name: str) -> None:
        """`value.name`, or `getattr(value, "name")`."""
        names = [name]
        while isinstance(value, ast.Attribute):
            names.append(value.attr)
            value = value.value
        path = self._meaning(value.id) if isinstance(value, ast.Name) else ""
        if path and not path.startswith("builtins."):
            full = ".".join((path, *reversed(names)))
            if not self._follow(full):
                self._note(full, node)
                return
        elif not isinstance(value, ast.Name):
            self.visit(value)
            if self._is_of_another_library(value):
                return
        for each in names:
            self._note(METHOD + each, node)

    def _is_of_another_library(self, value: ast.expr) -> bool:
        """Whether a value is what a library gives that is not PyTorch, such as `np.zeros(3)`."""
        while not isinstance(value, ast.Name):
            inner = value.func if isinstance(value, ast.Call) else getattr(value, "value", None)
            if not isinstance(inner, ast.expr):
                return False
            value = inner
        return self._meaning(value.id).split(".")[0] not in ("", "torch", "builtins", self._name.split(".")[0])

    def visit_Call(self, node: ast.Call) -> None:
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        place = _BY_NAME.get(called)
        if place is not None and not self._is_own(node.func):
            self._by_name(node, called, node.args[place] if len(node.args) > place else None)
        self.generic_visit(node)

    def _is_own(self, function: ast.expr) -> bool:
        return isinstance(function, ast.Name) and not self._meaning(function.id).startswith(("builtins.", "operator."))

    def _by_name(self, node: ast.Call, called: str, named: ast.expr | None) -> None:
        if not isinstance(named, ast.Constant) or not isinstance(named.value, str):
            self._note(UNWRITTEN + called, node)
        elif called == "getattr":
            self._attribute(node, node.args[0], named.value)
        else:
            for each in named.value.split("."):
                self._note(METHOD + each, node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        # Numbers have all operators but this one, so of the others the text does not tell whether a tensor is meant.
        if isinstance(node.op, ast.MatMult):
            self._note(f"{METHOD}__matmul__", node)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.op, ast.MatMult):
            self._note(f"{METHOD}__matmul__", node)
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._function(node, node.decorator_list, node.body)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._function(node, node.decorator_list, node.body)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._function(node, [], [node.body])

    def _function(self, node: _Function, decorators: Sequence[ast.expr], body: Sequence[ast.AST]) -> None:
        args = node.args
        for each in (*decorators, *args.defaults, *(one for one in args.kw_defaults if one is not None)):
            self.visit(each)
        given = (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg)
        scope = {one.arg: "" for one in given if one is not None}
        scope |= locals_of(body, self._module.package)
        self._scopes.append(scope)
        for statement in body:
            self.visit(statement)
        self._scopes.pop()
