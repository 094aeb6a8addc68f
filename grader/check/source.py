"""The source of a submission as a syntax tree: which code runs, and which names it mentions.

The check process parses the source and never runs it, so student code cannot forge what is found here. Checks that
count or forbid rest on it (see docs/security.md).

Only code that runs counts: the statements at the top of a file, and the functions and classes that checks use, with all
that these lead to by name. An import that none of it uses does not count, nor does a function that draws a picture.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from grader.check.names import (
    ANNOTATION_NODES,
    DEFINITIONS,
    FUNCTIONS,
    assigned_names,
    attributes_and_globals_changed_by,
    bound_names,
    free_names,
    imported_by,
    may_rebind,
    names_changed_by,
    names_in_annotations,
    paths_in,
    paths_of_attribute,
    words_of,
)
from grader.connection.connection import Connection
from grader.connection.raised import TracebackLine, shown_lines

_SWITCHES = words_of("torch.no_grad torch.enable_grad torch.inference_mode")
"""Decorators that run a function only where it is called."""

_OF_CLASSES = words_of("__init_subclass__ __set_name__ __mro_entries__ __prepare__")
"""What Python calls when a class is defined."""

_OF_METHODS = words_of("staticmethod classmethod property")
"""Decorators that say which kind of method a function is, and do not run it."""

_AS_PROGRAM = ("__name__ == '__main__'", "'__main__' == __name__")
"""The condition of what runs a file as a program, as Python writes it. It does not hold while the file is imported."""


@dataclass(frozen=True)
class Mention:
    """A name that code mentions.

    Attributes:
        name: a dotted name such as "torch.nn.functional.relu" or "builtins.sum"; ".relu" for a method of something.
        file, line: where.
    """

    name: str
    file: str
    line: int


class SubmittedSource:
    """The source of a submission. A file that is not Python is left out: code that imports it does not load.

    Args:
        files: the contents of the files, by relative name.
        module: the exercise module. Only its file is read, and those that it imports: others are of other exercises.
        graded: the names that checks mention, among them those that they call; None if they may call any.

    Attributes:
        too_deep: the name of a file that nests too deeply to be read here, or "".
        own: names of attributes that the student's own classes and objects have.
        imports: the packages that are imported and used.
        module: the exercise module.
        own_modules: the names of the student's own modules.
        trees: the syntax trees, by file.
        names: the paths for which imported names stand, by file, such as {"double.py": {"np": ["numpy"]}}.
        used: the names that code uses that runs, by file.
        bindings: the statements at the top of files that bind a name, by name.
        global_names: the ids of the nodes of names that are not local to a function, by file.
        assigned_at: the line at which the top of a file has first assigned a name, by file.
    """

    def __init__(self, files: Mapping[str, bytes], module: str, graded: Collection[str] | None = None) -> None:
        self._contents = files
        self.own_modules = {name.removesuffix(".py").split("/")[0] for name in files}
        self.trees: dict[str, ast.Module] = {}
        self._tops: dict[str, list[ast.stmt]] = {}
        self.names: dict[str, dict[str, list[str]]] = {}
        self.bindings: dict[str, list[tuple[str, ast.AST]]] = {}
        self._stored: dict[str, list[tuple[str, ast.AST]]] = {}
        self._runs: dict[str, set[int]] = {}
        self.used: dict[str, set[str]] = {}
        self.global_names: dict[str, frozenset[int]] = {}
        self.assigned_at: dict[str, dict[str, int]] = {}
        self.module = module
        self.too_deep, self.own = "", set[str]()
        self._parse(f"{module}.py")
        for file, tree in self.trees.items():
            try:
                self.global_names[file] = free_names(tree)
                given = self.assigned_at.setdefault(file, {})
                for statement in tree.body:
                    for name in assigned_names(statement):
                        given.setdefault(name, statement.end_lineno or 0)
                self._index(file, list(self._statements_run_at_import(file, tree.body)))
            except RecursionError:
                self.too_deep = file
                self.trees[file], self._tops[file] = ast.Module([], []), []
                self.names.setdefault(file, {})
        self._find_running_nodes(graded)
        self.imports = [
            Mention(each.path.split(".")[0] if each.path[0] != "." else file.split("/")[0], file, node.lineno)
            for file, node in self.running_nodes()
            for each in imported_by(node)
            if each.name in (*self.used[file], "*")
        ]

    def _parse(self, file: str) -> None:
        """Parse a file, and the student's files that any statement in it imports."""
        if file not in self._contents or file in self.trees:
            return
        self.trees[file] = ast.Module([], [])
        try:
            tree = ast.parse(self._contents[file])
            roots = {
                each.path.split(".")[0] or file.split("/")[0] for node in ast.walk(tree) for each in imported_by(node)
            }
        except (SyntaxError, ValueError):
            return
        except (RecursionError, MemoryError):
            self.too_deep = file
            return
        self.trees[file] = tree
        for name in self._contents:
            if name.removesuffix(".py").split("/")[0] in roots:
                self._parse(name)

    def _statements_run_at_import(self, file: str, body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
        """Yield the top-level statements of a file that run when it is imported.

        The body of `if __name__ == "__main__":` does not run.
        """
        for statement in body:
            if isinstance(statement, ast.If) and self._is_false_at_import(file, statement.test):
                yield from self._statements_run_at_import(file, statement.orelse)
            else:
                yield statement

    def _is_false_at_import(self, file: str, test: ast.expr) -> bool:
        """Return whether a condition is surely false while the file is imported, as `TYPE_CHECKING` is."""
        match test:
            case ast.Compare() if ast.unparse(test) in _AS_PROGRAM:
                return not any(may_rebind(tree, "__name__") for tree in self.trees.values())
            case ast.Constant(value=value):
                return not value
            case ast.BoolOp(op=ast.And(), values=[first, *_]):  # what follows is not evaluated
                return self._is_false_at_import(file, first)
            case ast.Name(id=name):
                wanted = "typing.TYPE_CHECKING"
            case ast.Attribute(value=ast.Name(id=name), attr="TYPE_CHECKING"):
                wanted = "typing"
            case _:
                return False
        imported = [each for node in ast.walk(self.trees[file]) for each in imported_by(node)]
        paths = {each.path for each in imported if each.name in (name, "*")}
        changed = any(may_rebind(tree, each) for tree in self.trees.values() for each in {name, "TYPE_CHECKING"})
        return paths == {wanted} and not changed and "typing" not in self.own_modules

    def _index(self, file: str, top: list[ast.stmt]) -> None:
        """Record the imports of a file, and what its statements bind or change.

        These are the path of each imported name, the statements that bind or change each name, and the names of methods
        and attributes.
        """
        self._tops[file], names = top, self.names.setdefault(file, {})
        for node in (node for statement in top for node in ast.walk(statement)):
            for each in imported_by(node):
                names.setdefault(each.name, []).append(each.path)
            match node:
                case ast.ClassDef(body=body):
                    self.own |= {each.name for each in body if isinstance(each, DEFINITIONS)}
                case ast.Attribute(attr=name, ctx=ast.Store()):
                    self.own.add(name)
        for statement in top:
            for name in set(names_changed_by(statement)):
                self.bindings.setdefault(name, []).append((file, statement))
            for name in set(attributes_and_globals_changed_by(statement)):
                self._stored.setdefault(name, []).append((file, statement))

    def _find_running_nodes(self, graded: Collection[str] | None) -> None:
        """Record which nodes may run, and the names that these nodes use.

        A node may run at import, or because a check calls a function.

        Args:
            graded: the names that checks mention, among them those that they call; None if they may call any.
        """
        waiting: dict[str, list[tuple[str, ast.AST]]] = {}
        todo: list[tuple[str, ast.AST]] = []
        for file, top in self._tops.items():
            self._runs[file], self.used[file] = set(), set()
            for statement in top:
                if isinstance(statement, DEFINITIONS) and self._runs_only_if_mentioned(file, statement):
                    waiting.setdefault(statement.name, []).append((file, statement))
                    todo += [(file, each) for each in _parts_run_at_definition(statement)]
                else:
                    todo.append((file, statement))
        for name in [name for name in waiting if graded is None or name in graded]:
            todo += waiting.pop(name)
        while todo:
            file, part = todo.pop()
            notes = {id(each) for node in ast.walk(part) for each in names_in_annotations(node)}
            for node in ast.walk(part):
                self._runs[file].add(id(node))
                if id(node) in notes and self._is_bound_by_package_import(file, node):
                    continue  # what a package makes of `Tensor["rows"]` reaches no code that runs
                for name in self._record_used_names(file, node):
                    todo += waiting.pop(name, [])
        if len(self._tops) > 1:  # one file may take a name from another
            everywhere = set[str]().union(*self.used.values())
            self.used = dict.fromkeys(self.used, everywhere)
        for file in self.used:
            self.used[file] = {name for name in self.used[file] if name[0] != "." or len(self._tops) > 1}
            self.used[file] = {name.removeprefix(".") for name in self.used[file]}

    def _runs_only_if_mentioned(
        self, file: str, statement: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    ) -> bool:
        """Return whether the body of a definition runs only if code mentions its name.

        That of `def helper(x)` does. It does not if a decorator, such as `@cache`, or a hook of a class may run the
        body.
        """
        if isinstance(statement, FUNCTIONS):
            return statement.name[:2] != "__" and all(
                self._is_grad_mode(file, each) for each in statement.decorator_list
            )
        return (
            not statement.decorator_list
            and self._classes_run_no_hooks
            and all(map(self._is_base_without_hooks, statement.bases))
        )

    def _is_grad_mode(self, file: str, decorator: ast.expr) -> bool:
        """Return whether a decorator only sets a mode, as `torch.no_grad` does.

        The mode lasts while the function runs.
        """
        of = decorator.func if isinstance(decorator, ast.Call) else decorator
        match of:
            case ast.Name(id=name):
                paths = self.names[file].get(name, [])
            case ast.Attribute(value=value, attr=name):
                paths = paths_of_attribute(value, name, self.names[file], None)
            case _:
                return False
        return bool(paths) and all(path in _SWITCHES for path in paths)

    def _is_base_without_hooks(self, base: ast.expr) -> bool:
        """Return whether a base class runs no code when a subclass is defined.

        Such base classes are PyTorch's, the student's own, `ABC` and `object`.
        """
        match base:
            case ast.Name(id=name) if name in self.bindings:
                return all(isinstance(node, ast.ClassDef) for _, node in self.bindings[name])
            case ast.Name(id=name):
                paths = {path for names in self.names.values() for path in names.get(name, ())} or {f"builtins.{name}"}
            case ast.Attribute(value=value, attr=name):
                paths = {path for names in self.names.values() for path in paths_of_attribute(value, name, names, None)}
            case _:
                return False
        return all(path.split(".")[0] == "torch" or path in ("abc.ABC", "builtins.object") for path in paths)

    @functools.cached_property
    def _classes_run_no_hooks(self) -> bool:
        """Whether the definitions of the submission's classes run no hooks.

        A metaclass and `__init_subclass__` are such hooks.
        """
        nodes = [node for tree in self.trees.values() for node in ast.walk(tree)]
        named = {getattr(node, key, None) for node in nodes for key in ("name", "id", "attr", "value")}
        bound = {name for node in nodes for name in bound_names(node)}
        return not (
            any(isinstance(node, ast.ClassDef) and node.keywords for node in nodes)
            or _OF_CLASSES & {name for name in named if isinstance(name, str)}
            or _OF_METHODS & bound
        )

    def _is_bound_by_package_import(self, file: str, node: ast.AST) -> bool:
        """Return whether a node is a name that always stands for an import from a package.

        After `from torch import Tensor` the name `Tensor` does, unless code of the student's binds it again.
        """
        paths = self.names[file].get(node.id, ()) if isinstance(node, ast.Name) else ()
        return (
            bool(paths)
            and all(path.split(".")[0] not in ("", *self.own_modules) for path in paths)
            and (
                node.id not in self.bindings  # type: ignore[attr-defined]
            )
        )

    def _record_used_names(self, file: str, node: ast.AST) -> Iterator[str]:
        """Record the names that a node uses; yield those that may name the student's code.

        They may name functions or classes; names in strings count, too.
        """
        match node:
            case ast.Name(id=name):
                self.used[file].add(name)
                yield name
                yield from (path.split(".")[-1] for path in self.names[file].get(name, ()))
            case ast.Attribute(attr=name):
                self.used[file].add(f".{name}")
                yield name
            case ast.Constant(value=str(name)):
                yield name
            case ast.MatchClass(kwd_attrs=names):
                yield from names

    def running_nodes(self) -> Iterator[tuple[str, Any]]:
        """Yield (file, node) for each node that may run.

        Statements come in source order, and the nodes of a statement breadth first.
        """
        for file, top in self._tops.items():
            for statement in top:
                yield from ((file, node) for node in ast.walk(statement) if id(node) in self._runs[file])

    def uses(self, names: Collection[str]) -> bool:
        """Return whether code that runs uses one of these names.

        A name counts by itself, as an attribute, and in an import.
        """
        for file, node in self.running_nodes():
            match node:
                case ast.Name(id=name) | ast.Attribute(attr=name) if name in names:
                    return True
                case ast.ImportFrom() if any(
                    each.path.split(".")[-1] in names and each.name in self.used[file] for each in imported_by(node)
                ):
                    return True
        return False

    def quote(self, mention: Mention, folder: str) -> str:
        """Return the line that has a mention, as the end of a message; "" without a line.

        For line 5 of `double.py`, it is "work/double.py, line 5" on a line of its own, and the text of line 5 on the
        next.
        """
        lines = self._contents.get(mention.file, b"").splitlines()  # of bytes, whose lines are those of the parser
        if not 0 < mention.line <= len(lines):
            return ""
        text = lines[mention.line - 1].decode("utf-8", "replace").strip()
        line = TracebackLine(mention.file, mention.line, "", text[:120])
        return "\n".join(["", *shown_lines([line], folder)])

    def mentions(self, function: str = "") -> list[Mention]:
        """Return where a function mentions names of packages and builtins.

        Mentions in student code that the function uses count, too. Names are dotted paths, such as `torch.relu` and
        `.sum`. A name counts wherever it stands, whether that line runs or not.

        Args:
            function: the name of the function; "" for all files of the submission.
        """
        # `from torch import outer` is an answer to "write `outer`", too.
        imported = [(file, path) for file, names in self.names.items() for path in names.get(function, ())]
        mentioned = {Mention(path, file, 0): None for file, path in imported}
        for file, node in self.reachable_statements(function):
            for path, line in paths_in(node, self.names[file]):
                mentioned[Mention(path, file, line)] = None
        own = {f"builtins.{name}" for name in self.bindings}
        return sorted((each for each in mentioned if each.name not in own), key=lambda each: (each.file, each.line))

    def reachable_statements(self, function: str = "") -> Iterator[tuple[str, ast.AST]]:
        """Yield (file, statement) for what defines a function and the code that it uses.

        If `double` calls `helper`, these are the definitions of both. The statements stand at the top of files.

        Args:
            function: the name of the function; "" for every statement that binds a name.
        """
        todo = [function] if function else list(self.bindings)
        reached = {**self.bindings}
        # An attribute that is set, or what a function does with a global name.
        for name, stored in self._stored.items():
            reached[name] = [*reached.get(name, ()), *stored]
        seen, passed = set(todo), set[int]()
        statements = self.bindings
        while todo:
            for file, node in statements.get(todo.pop(), ()):
                if id(node) not in passed:
                    passed.add(id(node))
                    yield file, node
                for path, _ in paths_in(node, self.names[file]):
                    # A name of the student's own leads on, in whichever of the files it is defined.
                    if (name := path.split(".")[-1]) in reached and name not in seen:
                        seen.add(name)
                        todo.append(name)
            statements = reached


def source_of(connection: Connection) -> SubmittedSource:
    """Return the parsed source of a submission.

    It is cached for all checks. If the submission does not load, its error is raised.
    """
    connection.names()
    return _parse_files(tuple(connection.files.items()), connection.module, connection.names_in_checks)


@functools.lru_cache(maxsize=8)
def _parse_files(files: tuple[tuple[str, bytes], ...], module: str, graded: frozenset[str] | None) -> SubmittedSource:
    return SubmittedSource(dict(files), module, graded)


def _parts_run_at_definition(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Iterator[ast.AST]:
    """Yield the parts of a definition that run when the definition is executed.

    These are all parts but the bodies of functions.
    """
    if isinstance(node, FUNCTIONS):
        yield from (*node.decorator_list, *_signature_code(node))
        return
    for part in node.body:
        if isinstance(part, FUNCTIONS) and all(map(_is_method_decorator, part.decorator_list)):
            yield from _signature_code(part)
        else:
            yield part


def _is_method_decorator(decorator: ast.expr) -> bool:
    """Return whether a decorator is `staticmethod`, `classmethod` or `property`."""
    return isinstance(decorator, ast.Name) and decorator.id in _OF_METHODS


def _signature_code(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.AST]:
    """Yield the expressions in a signature that run when the function is defined.

    These are the defaults, such as `g()` in `def f(x=g())`, and the annotations that consist of more than names.
    """
    arguments = function.args
    yield from (each for each in (*arguments.defaults, *arguments.kw_defaults) if each is not None)
    notes = [each.annotation for each in ast.walk(arguments) if isinstance(each, ast.arg)]
    for note in (*notes, function.returns):
        if note is not None and not all(isinstance(part, ANNOTATION_NODES) for part in ast.walk(note)):
            yield note
