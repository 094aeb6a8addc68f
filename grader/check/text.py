"""What the text of a submission says: which names its functions mention, and what could hide what it does.

The text is evidence that student code cannot forge: the check process reads it as a syntax tree, and never runs it.
Checks that count or forbid rest on it (see docs/security.md). They reject code whose text does not show what it does:
names built from strings, `exec`, the insides of PyTorch, frames, the garbage collector, other processes and threads.

That counts which runs: what stands at the top of a file, and the functions and classes that checks use, with all that
these lead to by name. An import that nothing of this uses hides nothing, nor does a function that draws a picture.
"""

from __future__ import annotations

import ast
import builtins
import functools
import string
import sys
import types
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy
import torch

from grader.connection.connection import Connection, Proxy, connection_of
from grader.connection.raised import Line, shown_lines
from grader.model.endings import CheckFailed
from grader.model.public_text import say


def words_of(text: str) -> frozenset[str]:
    """Split a text into words."""
    return frozenset(text.split())


_MODULES = words_of(
    """__future__ abc array bisect cmath collections contextlib copy dataclasses datetime decimal enum fractions
    functools heapq itertools json math numbers numpy operator pprint random re statistics string sys textwrap time
    torch typing warnings"""
)
"""Packages whose use the text shows. Others lead to files, processes, threads or the insides of Python."""

_ALONE = _MODULES - {"torch", "numpy"}
"""Modules of Python that must not be handed on: of what a variable holds, nothing is known."""

_PLOTS = "matplotlib.pyplot"
"""What draws a notebook's pictures; a rule about a function sees whether that uses it."""

_ONLY = {
    "sys": words_of("getsizeof maxsize float_info byteorder version_info exit argv stdout stderr"),
    "os": words_of("environ getcwd getenv path sep linesep cpu_count"),
    "pytest": words_of("approx fixture mark raises"),
    "unittest": words_of("TestCase main"),
    "logging": words_of(
        "getLogger basicConfig debug info warning error exception critical DEBUG INFO WARNING ERROR CRITICAL"
    ),
    "pathlib": words_of("Path PurePath"),
}
"""Packages of which only this may be used."""
_INSIDE = words_of(
    """ast asyncio bltns builtins codecs concurrent contextvars copyreg ctypes difflib fnmatch gc glob gzip hashlib
    importlib inspect io keyword locale logging mmap mp multiprocessing os pathlib pickle platform
    python_multiprocessing queue shutil signal socket struct subprocess sys sysconfig tarfile tempfile threading
    traceback types uuid weakref zipfile

    bundled_inputs classes collect_env cpp_extension ctypeslib elastic export f2py fx fx_traceback hipify hub jit
    launcher library load load_library loadtxt memmap model_dump ops overrides package profiler read_array rpc save
    savetxt serialization stride_tricks testing to_dlpack tunable CompilationUnit DataSource DisableTorchFunction
    DisableTorchFunctionSubclass ScriptFunction Timer TorchDispatchMode

    ao attrgetter c_void_p find_spec from_file fromregex genfromtxt get_field getfullargspec get_type_hints
    import_module make_dataclass methodcaller quantization read_bytes read_text signature ForwardRef
    Formatter FunctionType MethodType f_back f_locals f_globals f_builtins f_code tb_frame tb_next gi_frame gi_code
    cr_frame ag_frame func_globals fromfile tofile timeit settrace setprofile setFormatter currentframe"""
)
"""Names that lead further: modules that others imported, parts of PyTorch and NumPy that run text, read files, start
threads or switch hooks off, and ways into frames."""

_RUNS_NOTES = words_of("register singledispatch singledispatchmethod")
"""What runs annotations that are text."""

_COPIES_NAMES = words_of("update_wrapper wraps")
"""What copies attributes; with more arguments, those whose names it is given as text."""

_SWITCHES = words_of("torch.no_grad torch.enable_grad torch.inference_mode")
"""Decorators that run a function only where it is called."""

_OF_CLASSES = words_of("__init_subclass__ __set_name__ __mro_entries__ __prepare__")
"""What Python calls when a class is defined."""

_OF_METHODS = words_of("staticmethod classmethod property")
"""Decorators that say which kind of method a function is, and do not run it."""

_METACLASSES = ("ABCMeta", "EnumMeta", "EnumType")
_WITH_NAMES = "with the names of attributes"
_BUILTINS = words_of("exec eval compile globals locals vars open breakpoint input setattr delattr")
_HARMLESS = words_of(
    """__init__ __len__ __getitem__ __setitem__ __name__ __doc__ __main__ __call__ __iter__ __next__ __repr__ __str__
    __enter__ __exit__ __post_init__ __eq__ __hash__ __lt__ __add__ __radd__ __sub__ __mul__ __rmul__ __matmul__
    __neg__ __contains__ __sizeof__ __version__ __file__ __class__ __new__ __array__ __array_interface__ __all__
    __slots__ _version _base _asdict _replace _fields _modules _parameters _buffers"""
)
_AS_PROGRAM = ("__name__ == '__main__'", "'__main__' == __name__")
"""The condition of what runs a file as a program, as Python writes it. It does not hold while the file is imported."""

_NOT_ONES_OWN = words_of(
    "__array_interface__ __array_struct__ __match_args__ __getstate__ __setstate__ __reduce__ __reduce_ex__"
)
"""What a class of the student's must not define: it names attributes by strings, or memory by its address."""

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (*_FUNCTIONS, ast.ClassDef)


Imports = Mapping[str, Sequence[str]]
"""What the names of a file may stand for: a name can be imported more than once."""


class Imported(NamedTuple):
    """A name that an import binds, "*" for all of a module, and what it stands for."""

    name: str
    path: str


@dataclass(frozen=True)
class Mention:
    """A name that code mentions.

    Attributes:
        name: such as "torch.nn.functional.relu" or "builtins.sum"; ".relu" for a method of something.
        file, line: where.
    """

    name: str
    file: str
    line: int


class Text:
    """The text of a submission. A file that is not Python has none: code that imports it does not load.

    Args:
        files: by relative name.
        module: the exercise module. Only its file is read, and those that it imports: others are of other exercises.
        graded: names of which those of the functions that checks call are some; None if all functions may be called.

    Attributes:
        too_deep: the name of a file that nests too deeply to be read here, or "".
        own: names of attributes that the student's own classes and objects have.
        imports: the packages that are imported and used.
    """

    def __init__(self, files: Mapping[str, bytes], module: str, graded: Collection[str] | None = None) -> None:
        self._contents = files
        self._modules = {name.removesuffix(".py").split("/")[0] for name in files}
        self._trees: dict[str, ast.Module] = {}
        self._tops: dict[str, list[ast.stmt]] = {}
        self._names: dict[str, dict[str, list[str]]] = {}
        self._bound: dict[str, list[tuple[str, ast.AST]]] = {}
        self._stored: dict[str, list[tuple[str, ast.AST]]] = {}
        self._runs: dict[str, set[int]] = {}
        self._used: dict[str, set[str]] = {}
        self._scopes: dict[str, set[int]] = {}
        self._functions: dict[str, frozenset[str]] = {}
        self._given: dict[str, dict[str, int]] = {}
        self._module = module
        self.too_deep, self.own = "", set[str]()
        self._parse(f"{module}.py")
        for file, tree in self._trees.items():
            try:
                self._scopes[file] = set(_free_names_in(tree, ()))
                given = self._given.setdefault(file, {})
                for statement in tree.body:
                    for name in _assigned_names(statement):
                        given.setdefault(name, statement.end_lineno or 0)
                self._read(file, list(self._top(file, tree.body)))
            except RecursionError:
                self.too_deep = file
                self._trees[file], self._tops[file] = ast.Module([], []), []
                self._names.setdefault(file, {})
        self._follow(graded)
        self.imports = [
            Mention(each.path.split(".")[0] if each.path[0] != "." else file.split("/")[0], file, node.lineno)
            for file, node in self._running()
            for each in _imported(node)
            if each.name in (*self._used[file], "*")
        ]

    def _parse(self, file: str) -> None:
        """Parse a file, and those of the student's own that it imports anywhere."""
        if file not in self._contents or file in self._trees:
            return
        self._trees[file] = ast.Module([], [])
        try:
            tree = ast.parse(self._contents[file])
            roots = {
                each.path.split(".")[0] or file.split("/")[0] for node in ast.walk(tree) for each in _imported(node)
            }
        except (SyntaxError, ValueError):
            return
        except (RecursionError, MemoryError):
            self.too_deep = file
            return
        self._trees[file] = tree
        for name in self._contents:
            if name.removesuffix(".py").split("/")[0] in roots:
                self._parse(name)

    def _top(self, file: str, body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
        """Yield the statements at the top of a file that run when it is imported."""
        for statement in body:
            if isinstance(statement, ast.If) and self._never_holds(file, statement.test):
                yield from self._top(file, statement.orelse)
            else:
                yield statement

    def _never_holds(self, file: str, test: ast.expr) -> bool:
        """Return whether a condition cannot hold while the file is imported."""
        match test:
            case ast.Compare() if ast.unparse(test) in _AS_PROGRAM:
                return not any(_may_set(tree, "__name__") for tree in self._trees.values())
            case ast.Constant(value=value):
                return not value
            case ast.BoolOp(op=ast.And(), values=[first, *_]):  # what follows is not evaluated
                return self._never_holds(file, first)
            case ast.Name(id=name):
                wanted = "typing.TYPE_CHECKING"
            case ast.Attribute(value=ast.Name(id=name), attr="TYPE_CHECKING"):
                wanted = "typing"
            case _:
                return False
        imported = [each for node in ast.walk(self._trees[file]) for each in _imported(node)]
        paths = {each.path for each in imported if each.name in (name, "*")}
        changed = any(_may_set(tree, each) for tree in self._trees.values() for each in {name, "TYPE_CHECKING"})
        return paths == {wanted} and not changed and "typing" not in self._modules

    def _read(self, file: str, top: list[ast.stmt]) -> None:
        """Note what a file imports, what its top gives each name, and which attributes its classes have."""
        self._tops[file], names = top, self._names.setdefault(file, {})
        for node in (node for statement in top for node in ast.walk(statement)):
            for each in _imported(node):
                names.setdefault(each.name, []).append(each.path)
            match node:
                case ast.ClassDef(body=body):
                    self.own |= {each.name for each in body if isinstance(each, _DEFINITIONS)}
                case ast.Attribute(attr=name, ctx=ast.Store()):
                    self.own.add(name)
        for statement in top:
            for name in set(_names_in(statement)):
                self._bound.setdefault(name, []).append((file, statement))
            for name in set(_changed_in(statement)):
                self._stored.setdefault(name, []).append((file, statement))

    def _follow(self, graded: Collection[str] | None) -> None:
        """Note which code runs: when the files are imported, or because a check calls a function."""
        waiting: dict[str, list[tuple[str, ast.AST]]] = {}
        todo: list[tuple[str, ast.AST]] = []
        for file, top in self._tops.items():
            self._runs[file], self._used[file] = set(), set()
            for statement in top:
                if isinstance(statement, _DEFINITIONS) and self._waits(file, statement):
                    waiting.setdefault(statement.name, []).append((file, statement))
                    todo += [(file, each) for each in _run_at_once(statement)]
                else:
                    todo.append((file, statement))
        for name in [name for name in waiting if graded is None or name in graded]:
            todo += waiting.pop(name)
        while todo:
            file, part = todo.pop()
            notes = {id(each) for node in ast.walk(part) for each in _names_of_notes(node)}
            for node in ast.walk(part):
                self._runs[file].add(id(node))
                if id(node) in notes and self._is_of_package(file, node):
                    continue  # what a package makes of `Tensor["rows"]` reaches no code that runs
                for name in self._leads_to(file, node):
                    todo += waiting.pop(name, [])
        if len(self._tops) > 1:  # one file may take a name from another
            everywhere = set[str]().union(*self._used.values())
            self._used = dict.fromkeys(self._used, everywhere)
        for file in self._used:
            self._used[file] = {name for name in self._used[file] if name[0] != "." or len(self._tops) > 1}
            self._used[file] = {name.removeprefix(".") for name in self._used[file]}

    def _waits(self, file: str, statement: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
        """Return whether what a definition contains runs only where its name is mentioned."""
        if isinstance(statement, _FUNCTIONS):
            return statement.name[:2] != "__" and all(
                self._only_switches(file, each) for each in statement.decorator_list
            )
        return not statement.decorator_list and self._plain_classes and all(map(self._is_plain, statement.bases))

    def _only_switches(self, file: str, decorator: ast.expr) -> bool:
        """Return whether a decorator of PyTorch's only sets a switch while the function runs."""
        of = decorator.func if isinstance(decorator, ast.Call) else decorator
        match of:
            case ast.Name(id=name):
                paths = self._names[file].get(name, [])
            case ast.Attribute(value=value, attr=name):
                paths = _paths(value, name, self._names[file], None)
            case _:
                return False
        return bool(paths) and all(path in _SWITCHES for path in paths)

    def _is_plain(self, base: ast.expr) -> bool:
        """Return whether a base class runs nothing of its subclass: PyTorch's, or the student's own."""
        match base:
            case ast.Name(id=name) if name in self._bound:
                return all(isinstance(node, ast.ClassDef) for _, node in self._bound[name])
            case ast.Name(id=name):
                paths = {path for names in self._names.values() for path in names.get(name, ())} or {f"builtins.{name}"}
            case ast.Attribute(value=value, attr=name):
                paths = {path for names in self._names.values() for path in _paths(value, name, names, None)}
            case _:
                return False
        return all(path.split(".")[0] == "torch" or path in ("abc.ABC", "builtins.object") for path in paths)

    @functools.cached_property
    def _plain_classes(self) -> bool:
        """Whether defining a class runs no other code of the student's, as a metaclass or `__init_subclass__` would."""
        nodes = [node for tree in self._trees.values() for node in ast.walk(tree)]
        named = {getattr(node, key, None) for node in nodes for key in ("name", "id", "attr", "value")}
        bound = {name for node in nodes for name in _bound_names(node)}
        return not (
            any(isinstance(node, ast.ClassDef) and node.keywords for node in nodes)
            or _OF_CLASSES & {name for name in named if isinstance(name, str)}
            or _OF_METHODS & bound
        )

    def _is_of_package(self, file: str, node: ast.AST) -> bool:
        """Return whether a name is that of an import, and of nothing of the student's own."""
        paths = self._names[file].get(node.id, ()) if isinstance(node, ast.Name) else ()
        return (
            bool(paths)
            and all(path.split(".")[0] not in ("", *self._modules) for path in paths)
            and (
                node.id not in self._bound  # type: ignore[attr-defined]
            )
        )

    def _leads_to(self, file: str, node: ast.AST) -> Iterator[str]:
        """Yield the names by which a node may lead to functions of the student's own."""
        match node:
            case ast.Name(id=name):
                self._used[file].add(name)
                yield name
                yield from (path.split(".")[-1] for path in self._names[file].get(name, ()))
            case ast.Attribute(attr=name):
                self._used[file].add(f".{name}")
                yield name
            case ast.Constant(value=str(name)):
                yield name
            case ast.MatchClass(kwd_attrs=names):
                yield from names

    def _running(self) -> Iterator[tuple[str, Any]]:
        """Yield the nodes of all code that runs, each with its file, in the order of the text."""
        for file, top in self._tops.items():
            for statement in top:
                yield from ((file, node) for node in ast.walk(statement) if id(node) in self._runs[file])

    def uses(self, names: Collection[str]) -> bool:
        """Return whether code that runs uses one of these names: by itself, as an attribute, or as an import."""
        for file, node in self._running():
            match node:
                case ast.Name(id=name) | ast.Attribute(attr=name) if name in names:
                    return True
                case ast.ImportFrom() if any(
                    each.path.split(".")[-1] in names and each.name in self._used[file] for each in _imported(node)
                ):
                    return True
        return False

    def quoted(self, mention: Mention, folder: str) -> str:
        """Return the place of a mention with the text of its line, below a message; "" if it has no line."""
        lines = self._contents.get(mention.file, b"").splitlines()  # of bytes, whose lines are those of the parser
        if not 0 < mention.line <= len(lines):
            return ""
        text = lines[mention.line - 1].decode("utf-8", "replace").strip()
        line = Line(mention.file, mention.line, "", text[:120])
        return "\n".join(["", *shown_lines([line], folder)])

    def hidden_code(self, allow: Collection[str] = ()) -> Mention | None:
        """Return the first mention in code that runs which could hide what it does, apart from allowed words."""
        fine: set[int] = set()  # ids of nodes that only begin an expression which hides nothing
        for file, node in self._running():
            for name in self._hides(node, file, fine):
                if name.split(".")[-1] not in allow and name not in allow:
                    return Mention(name, file, getattr(node, "lineno", 0))
        return None

    def _is_builtin(self, node: ast.Name, file: str) -> bool:
        """Return whether a name may mean a builtin of Python.

        It does not where it is local to a function, nor below a statement at the top that gives it another meaning, for
        as long as nothing takes that away again.
        """
        if id(node) not in self._scopes[file] or isinstance(node.ctx, ast.Store):
            return False
        return self._given[file].get(node.id, node.lineno) >= node.lineno or node.id in self._taken_away

    @property
    def bound(self) -> Collection[str]:
        """The names that the files' tops give a meaning."""
        return self._bound.keys()

    @functools.cached_property
    def _taken_away(self) -> frozenset[str]:
        """The names that a file deletes, also where an `except` clause ends, and the attributes."""
        return frozenset(
            name for tree in self._trees.values() for node in ast.walk(tree) for name in _deleted_names(node)
        )

    def _hides(self, node: ast.AST, file: str, fine: set[int]) -> Iterator[str]:
        """Yield what a node does that could hide something."""
        yield from sorted(_NOT_ONES_OWN.intersection(_bound_names(node)))
        match node:
            case ast.Import() | ast.ImportFrom():
                yield from (each.path for each in _imported(node) if self._is_closed(each, file))
            case ast.FunctionDef(decorator_list=decorators) | ast.AsyncFunctionDef(decorator_list=decorators):
                fine |= {id(each.func) for each in decorators if isinstance(each, ast.Call) and _copies_once(each)}
            case ast.Attribute(value=inner):
                yield from self._hides_by_attribute(node, file, fine)
                if isinstance(inner, ast.Name) and inner.id not in (*_ONLY, "getattr"):
                    fine.add(id(inner))
            case ast.Call(func=function, args=args, keywords=keywords):
                yield from _hides_by_call(function, args, keywords, fine, self._functions_in(file))
                if _last_name(function) == "basicConfig" and any(each.arg != "level" for each in keywords):
                    yield "basicConfig with more than a level"  # a format can name attributes
            case ast.MatchClass(kwd_attrs=words):
                yield from (f".{name}" for name in words if self._is_inside(name) and not self._is_own(name))
            case ast.Name():
                yield from self._hides_by_name(node, file, fine)

    def _hides_by_name(self, node: ast.Name, file: str, fine: set[int]) -> Iterator[str]:
        """Yield what a bare name could hide."""
        match node:
            case ast.Name(id="sys") if self._names[file].get("sys") != ["sys"]:
                pass
            case ast.Name(id=name) if name in _BUILTINS and self._is_builtin(node, file):
                yield name
            case ast.Name(id=name) if name[:2] == "__" and _is_inside(name):
                yield name
            case ast.Name(id="sys" | "os" | "getattr" as name) if self._is_bare(name, node, file, fine):
                yield name
            case ast.Name(id=name, ctx=ast.Load()) if id(node) not in fine and (_ALONE | {*_ONLY}).intersection(
                self._names[file].get(name, ())
            ):
                yield f"{name} handed on"
            case ast.Name(id=name) if name in _COPIES_NAMES and name in self._names[file] and id(node) not in fine:
                yield f"{name} {_WITH_NAMES}"

    def _is_bare(self, name: str, node: ast.AST, file: str, fine: set[int]) -> bool:
        """Return whether `getattr` is not called here, or `sys` or `os` is handed on."""
        return id(node) not in fine and (name != "os" or "os" in self._names[file].get("os", ()))

    def _is_closed(self, imported: Imported, file: str) -> bool:
        """Return whether an import that is used leads to something that could hide code."""
        name, path = imported
        if name not in self._used[file] and name != "*":
            return False
        first, *rest = path.split(".")
        if first in self._modules or not first:  # of the student's own, which is read as well
            # Who has the exercise module as an object can give its names another meaning unseen.
            return path.lstrip(".") == self._module
        if path == name or name == first:  # `import torch.fx`: what is used of it is an attribute
            return first not in (*_MODULES, *_ONLY)
        if path == _PLOTS or _is_harmless([path]) or _is_comparison(rest):
            return False
        if first in _ONLY:
            return len(rest) != 1 or rest[0] not in _ONLY[first]
        renamed = name != rest[-1] if rest and rest[-1] in _COPIES_NAMES else False
        return first not in _MODULES or renamed or any(map(self._is_inside, rest))

    def _hides_by_attribute(self, node: ast.Attribute, file: str, fine: set[int]) -> Iterator[str]:
        match node:
            case ast.Attribute(value=ast.Attribute(ast.Name("sys") as root, "path") as inner, attr="append" | "insert"):
                fine |= {id(root), id(inner)}  # where to look for files: which code runs does not depend on it
            case ast.Attribute(value=ast.Name(id=root) as inner, attr=name) if (
                root in _ONLY
                and id(node) not in fine
                and (root in ("sys", "os") or self._names[file].get(root) == [root])
            ):
                fine.add(id(inner))
                yield from [f"{root}.{name}"] * (name not in _ONLY[root] or not isinstance(node.ctx, ast.Load))
            case ast.Attribute(value=ast.Attribute(attr="testing") as inner, attr=name) if _is_comparison(
                ["testing", name]
            ):
                fine.add(id(inner))
            case ast.Attribute(attr="__class__", ctx=ast.Store() | ast.Del()):
                yield ".__class__"
            case ast.Attribute(ctx=ast.Store() | ast.Del()) if changed := self._assigned_import(node, file):
                yield changed
            case ast.Attribute(value=ast.Attribute(attr="ctypes") as inner, attr="data"):  # the address of an array
                fine.add(id(inner))
            case ast.Attribute(attr="format" | "format_map") if id(node) not in fine:
                yield "format with attributes, or with a text that is not written out as a string"
            case ast.Attribute(attr=name) if name in _COPIES_NAMES and id(node) not in fine:
                yield f".{name} {_WITH_NAMES}"
            case ast.Attribute(value=inner, attr=name) if self._is_inside(name) and id(node) not in fine:
                paths = _paths(node.value, name, self._names[file], None)
                if _is_harmless(paths):
                    fine.add(id(inner))
                elif not self._is_own(name, paths):
                    yield f".{name}"

    def _is_inside(self, name: str) -> bool:
        """Return whether a name leads to the internals of a library, or runs the text of annotations."""
        return _is_inside(name) or (name in _RUNS_NOTES and not self._has_plain_notes)

    @functools.cached_property
    def _has_plain_notes(self) -> bool:
        """Whether all annotations of the code that runs are made of classes, whose names stand there."""
        notes = (
            (file, note)
            for file, node in self._running()
            for field in ("annotation", "returns")
            if (note := getattr(node, field, None)) is not None
        )
        return all(self._is_class(file, part) for file, note in notes for part in _outermost(note))

    def _is_class(self, file: str, part: ast.AST) -> bool:
        """Return whether a part of an annotation is a class of a library or of the student's own, and no text."""
        match part:
            case ast.Constant(value=value):
                return value is None or value is Ellipsis
            case ast.Name(id=name) if name in self._bound:
                return all(isinstance(node, ast.ClassDef) for _, node in self._bound[name])
            case ast.Name(id=name):
                paths = self._names[file].get(name, [f"builtins.{name}"])
            case ast.Attribute(value=value, attr=name):
                paths = _paths(value, name, self._names[file], None)
            case _:
                return False
        return all(path.startswith("typing.") or isinstance(resolved(path), type) for path in paths)

    def _is_own(self, name: str, paths: Sequence[str] = ()) -> bool:
        """Return whether a name with an underscore is the student's own, and not one of a library as well."""
        if name in _INSIDE or name[:2] == "__":
            return False
        if roots := {path.split(".")[0] for path in paths if path[0] != "."}:  # of a module
            return roots <= self._modules and name in self._bound
        return name in self.own and name not in _of_libraries()

    def _functions_in(self, file: str) -> frozenset[str]:
        """Return the names in a file that mean functions of the file's, and never anything else."""
        if (known := self._functions.get(file)) is not None:
            return known
        tree = self._trees[file]
        named = (name for node in ast.walk(tree) if not isinstance(node, _FUNCTIONS) for name in _bound_names(node))
        defined = {node.name for node in ast.walk(tree) if isinstance(node, _FUNCTIONS)}
        args = (each.arg for each in ast.walk(tree) if isinstance(each, ast.arg))
        return self._functions.setdefault(file, frozenset(defined.difference(named, args)))

    def _assigned_import(self, node: ast.Attribute, file: str) -> str:
        """Return what an assignment replaces in an imported module, such as "torch.relu", or "".

        Setting a switch in `torch.backends` replaces nothing.
        """
        paths = _paths(node.value, node.attr, self._names[file], None)
        return next((path for path in paths if not path.startswith((".", "torch.backends."))), "")

    def mentions(self, function: str = "") -> list[Mention]:
        """Return what a function mentions, with all of the student's own that it leads to; of all files without one.

        A name counts wherever it stands, whether that line runs or not.
        """
        # `from torch import outer` is an answer to "write `outer`", too.
        imported = [(file, path) for file, names in self._names.items() for path in names.get(function, ())]
        mentioned = {Mention(path, file, 0): None for file, path in imported}
        for file, node in self.reached(function):
            for path, line in paths_in(node, self._names[file]):
                mentioned[Mention(path, file, line)] = None
        own = {f"builtins.{name}" for name in self._bound}
        return sorted((each for each in mentioned if each.name not in own), key=lambda each: (each.file, each.line))

    def reached(self, function: str = "") -> Iterator[tuple[str, ast.AST]]:
        """Yield the top-level statements that a function leads to by name, its own included; all without one.

        Args:
            function: its name.

        Yields:
            Each with its file.
        """
        todo = [function] if function else list(self._bound)
        reached = {**self._bound}
        # An attribute that is set, or what a function does with a global name.
        for name, stored in self._stored.items():
            reached[name] = [*reached.get(name, ()), *stored]
        seen, passed = set(todo), set[int]()
        statements = self._bound
        while todo:
            for file, node in statements.get(todo.pop(), ()):
                if id(node) not in passed:
                    passed.add(id(node))
                    yield file, node
                for path, _ in paths_in(node, self._names[file]):
                    # A name of the student's own leads on, in whichever of the files it is defined.
                    if (name := path.split(".")[-1]) in reached and name not in seen:
                        seen.add(name)
                        todo.append(name)
            statements = reached

    def names_in(self, file: str) -> Imports:
        """Return what the names that a file imports stand for."""
        return self._names[file]


def assert_no_hidden_code(function: Proxy, allow: Collection[str] = ()) -> None:
    """Fail if the submission's text contains anything that could hide what its code does.

    Args:
        function: a function of the student's.
        allow: words that are allowed besides, such as "Timer".

    Raises:
        CheckFailed: it contains such a thing, or nests too deeply to be read.
    """
    connection = connection_of(function)
    text = text_of(connection)
    if text.too_deep:
        raise CheckFailed(say("your file nests too deeply to be read"), from_text=True)
    if (mention := text.hidden_code(allow)) is not None:
        word, _, how = mention.name.partition(" ")
        used = f"`{word}` {how}" if how else f"`{word}`"
        what = f"{used} could hide what your code does, so this check cannot judge it; {_advice_instead_of(word, how)}"
        raise CheckFailed(what + text.quoted(mention, connection.folder), from_text=True)


def _advice_instead_of(word: str, how: str) -> str:
    """Return what to do about a word that could hide something, used in some way; why, if it names a package."""
    package = word.split(".")[0]
    if how or (package in (*vars(builtins), *_MODULES, "") and package != "sys") or package[:1] == "_":
        return "do not use it"
    if package in sys.stdlib_module_names:
        return f"`{package}` leads to files, processes, threads or the insides of Python; do not use it"
    return f"`{package}` runs code that is not in your file; do not use that package"


def text_of(connection: Connection) -> Text:
    """Return the text of a submission, parsed once for all checks. A file that does not load is reported as that."""
    connection.names()
    return _text(tuple(connection.files.items()), connection.module, connection.graded)


@functools.lru_cache(maxsize=8)
def _text(files: tuple[tuple[str, bytes], ...], module: str, graded: frozenset[str] | None) -> Text:
    return Text(dict(files), module, graded)


@functools.cache
def _of_libraries() -> frozenset[str]:
    """Return names of modules of PyTorch and NumPy, and of the attributes of `torch` and of a tensor."""
    parts = (name.split(".") for name in list(sys.modules) if name.startswith(("torch.", "numpy.")))
    return frozenset({part for names in parts for part in names} | {*vars(torch), *vars(numpy), *dir(torch.Tensor)})


def resolved(path: str) -> Any:
    """Return what a path names in the packages as they are loaded here, or None. Import nothing for it."""
    first, *rest = path.split(".")
    value: Any = sys.modules.get(first)
    for part in rest:
        value = vars(value).get(part) if isinstance(value, types.ModuleType) else getattr(value, part, None)
    return value


def _assigned_names(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a top-level statement gives a meaning, whenever it runs."""
    match statement:
        case ast.Assign(targets=targets):
            yield from (target.id for target in targets if isinstance(target, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
            yield name
        case ast.Import() | ast.ImportFrom():
            yield from (each.name for each in _imported(statement))
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name


def _deleted_names(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node deletes."""
    match node:
        case ast.Name(id=name, ctx=ast.Del()) | ast.Attribute(attr=name, ctx=ast.Del()):
            yield name
        case ast.ExceptHandler(name=str(name)):
            yield name


def _bound_names(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node itself binds, in any form."""
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
            yield from (each.name for each in _imported(node))


def _is_comparison(names: Sequence[str]) -> bool:
    """Return whether names end with a function of PyTorch's or NumPy's that compares: `testing.assert_close`."""
    return len(names) > 1 and names[-2] == "testing" and names[-1].startswith("assert_")


def _copies_once(call: ast.Call) -> bool:
    """Return whether this is `wraps(f)`, which copies what each function has."""
    return isinstance(call.func, ast.Name | ast.Attribute) and not call.keywords and len(call.args) == 1


def _hides_by_call(
    function: ast.expr, args: list[ast.expr], keywords: list[ast.keyword], fine: set[int], functions: Collection[str]
) -> Iterator[str]:
    """Yield what a call by a name that stands in a text could hide.

    Args:
        function: what is called.
        args: its arguments.
        keywords: those by name.
        fine: ids of nodes that hide nothing; others are added.
        functions: names that mean functions of the file's.
    """
    match function, args:
        case ast.Name("update_wrapper") | ast.Attribute(attr="update_wrapper"), [ast.Name(id=name), _]:
            if not keywords and name in functions:  # else what it changes may be a module
                fine.add(id(function))
        case ast.Call(func=ast.Name("type") | ast.Attribute(attr="__class__")), [_, _, _]:
            yield "type with three arguments"
        case ast.Name(id=name) | ast.Attribute(attr=name), [_, _, _] if name in _METACLASSES:
            yield f"{name} with three arguments"
        case ast.Attribute(value=ast.Constant(value=str(text)), attr="format"), _:
            if not _has_path(text):
                fine.add(id(function))
        case ast.Name(id="type"), [_, _, *_]:
            yield "type with three arguments"
        case ast.Name(id="getattr" | "hasattr" as name), [of, named, *_]:
            fine |= {id(function), *([id(of)] if isinstance(of, ast.Name) and of.id not in _ONLY else [])}
            if not isinstance(named, ast.Constant) or not isinstance(named.value, str):
                yield f"{name} with a name that is not written out as a string"
            elif _is_inside(named.value) or named.value in _BUILTINS:
                yield f".{named.value}"


def _last_name(function: ast.expr) -> str:
    """Return the name by which something is called; "" without one."""
    match function:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _has_path(template: str) -> bool:
    """Return whether a field of a `format` template names an attribute or an item, even within another template."""
    try:
        fields = list(string.Formatter().parse(template))
    except ValueError:  # which raises where it is used
        return False
    return any(any(mark in (name or "") for mark in ".[") or _has_path(form or "") for _, name, form, _ in fields)


def _is_inside(name: str) -> bool:
    """Return whether a name leads to the internals of a library; a name that a class may need does not."""
    return name in _INSIDE or (name.startswith("_") and name.strip("_") != "" and name not in _HARMLESS)


def _imported(node: ast.AST) -> Iterator[Imported]:
    """Yield the names that an import binds."""
    match node:
        case ast.Import(names=names):
            for each in names:
                root = each.name.split(".")[0]
                yield Imported(each.asname or root, each.name if each.asname else root)
        case ast.ImportFrom(module=module, names=names, level=level):
            for each in names:
                yield Imported(each.asname or each.name, f"{'.' * level}{module or ''}.{each.name}")


def _may_set(tree: ast.Module, name: str) -> bool:
    """Return whether a file may give a name of a module another value than Python does."""
    defined = {node.name for node in ast.walk(tree) if isinstance(node, _DEFINITIONS)}
    stored = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    stored |= {each.arg for each in ast.walk(tree) if isinstance(each, ast.arg)}
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=of), attr=attr, ctx=ast.Store() | ast.Del()) if attr == name:
                imported = {each.name for node in ast.walk(tree) for each in _imported(node)}
                if of not in defined - stored - imported:  # a function is not a module
                    return True
            case ast.Attribute(attr=attr, ctx=ast.Store() | ast.Del()) if attr == name:
                return True
            case ast.ExceptHandler(name=bound) | ast.MatchAs(name=bound) | ast.MatchStar(name=bound) if bound == name:
                return True
            case ast.MatchMapping(rest=bound) if bound == name:
                return True
            case ast.ImportFrom() | ast.Import() if name == "__name__" and any(
                each.name == name for each in _imported(node)
            ):
                return True
    return name in defined | stored


def _run_at_once(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Iterator[ast.AST]:
    """Yield what runs when a function or a class of `_waits` is defined: all but the bodies of functions."""
    if isinstance(node, _FUNCTIONS):
        yield from (*node.decorator_list, *_of_signature(node))
        return
    for part in node.body:
        if isinstance(part, _FUNCTIONS) and all(map(_is_of_method, part.decorator_list)):
            yield from _of_signature(part)
        else:
            yield part


def _is_of_method(decorator: ast.expr) -> bool:
    """Return whether a decorator says which kind of method a function is."""
    return isinstance(decorator, ast.Name) and decorator.id in _OF_METHODS


def _of_signature(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.AST]:
    """Yield what runs when a function is defined: defaults, and annotations that are more than a class."""
    arguments = function.args
    yield from (each for each in (*arguments.defaults, *arguments.kw_defaults) if each is not None)
    notes = [each.annotation for each in ast.walk(arguments) if isinstance(each, ast.arg)]
    for note in (*notes, function.returns):
        if note is not None and not all(isinstance(part, _OF_NOTES) for part in ast.walk(note)):
            yield note


def _names_of_notes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the names in the annotations of a function that only name classes."""
    note = node.annotation if isinstance(node, ast.arg) else node.returns if isinstance(node, _FUNCTIONS) else None
    if note is not None and all(isinstance(part, _OF_NOTES) for part in ast.walk(note)):
        yield from (part for part in ast.walk(note) if isinstance(part, ast.Name))


_OF_NOTES = (ast.Name, ast.Attribute, ast.Constant, ast.Subscript, ast.Tuple, ast.List, ast.BinOp, ast.BitOr, ast.Load)


def _outermost(note: ast.expr) -> Iterator[ast.AST]:
    """Yield the parts of an annotation such as `dict[str, torch.Tensor] | None`: classes, and other parts."""
    match note:
        case ast.Subscript(value=value, slice=inner):
            yield from (*_outermost(value), *_outermost(inner))
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part in parts:
                yield from _outermost(part)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            yield from (*_outermost(left), *_outermost(right))
        case _:
            yield note


def _names_in(statement: ast.stmt) -> Iterator[str]:
    """Yield names that a top-level statement binds, or whose value it may change, as in `table["o"] = f`."""
    if isinstance(statement, _DEFINITIONS):
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


def paths_in(node: ast.AST, imports: Imports) -> Iterator[tuple[str, int]]:
    """Yield the names that code mentions, as paths with their lines. A class in an annotation does not count."""
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
                paths = _paths(value, name, imports, outside)
                if isinstance(value, ast.Name) and any(path in _MODULES for path in imports.get(value.id, ())):
                    roots.add(id(value))
            case ast.Call(func=ast.Name(id="getattr"), args=[value, ast.Constant(value=str(name)), *_]):
                paths = _paths(value, name, imports, outside)
            case ast.MatchClass(kwd_attrs=names):
                paths = [f".{name}" for name in names]
            case ast.BinOp(op=ast.MatMult()) | ast.AugAssign(op=ast.MatMult()):
                paths = [".__matmul__"]  # numbers have all operators but this one
        for path in paths:
            if id(each) not in of_types or not isinstance(resolved(path), type):
                yield path, getattr(each, "lineno", 0)


def free_names(node: ast.AST) -> frozenset[int]:
    """Return the ids of the free names in code: those that mean something outside of it."""
    return frozenset(_free_names_in(node, ()))


def _free_names_in(node: ast.AST, scopes: tuple[frozenset[str], ...]) -> Iterator[int]:
    """Yield the ids of the names in code that mean something outside of it, by Python's scopes."""
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
            bound = bound.union(*map(_bound_in, body))
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


def _bound_in(node: ast.AST) -> set[str]:
    """Return the names that code of a function assigns, and not those of functions within it."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Lambda():
            return set()
        case ast.Name(id=name):
            return set() if isinstance(node.ctx, ast.Load) else {name}
        case ast.NamedExpr(target=ast.Name(id=name)):
            return {name} | _bound_in(node.value)
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return set[str]().union(*map(_bound_in, _outside_targets(node)))
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            return {name}.union(*map(_bound_in, ast.iter_child_nodes(node)))
    return set[str]().union(*map(_bound_in, ast.iter_child_nodes(node)))


def _outside_targets(node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> Iterator[ast.AST]:
    """Yield the parts of a comprehension except what its loops bind."""
    for part in ast.iter_child_nodes(node):
        if isinstance(part, ast.comprehension):
            yield from (part.iter, *part.ifs)
        else:
            yield part


def _changed_in(statement: ast.stmt) -> Iterator[str]:
    """Yield attributes that a statement sets, and global names whose objects code of its functions may change."""
    outside = set(_free_names_in(statement, ())) if isinstance(statement, _DEFINITIONS) else set[int]()
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


def _paths(value: ast.expr, name: str, imports: Imports, outside: Collection[int] | None) -> list[str]:
    """Return the paths of an attribute of a module; of anything else, the name of a method.

    Args:
        value: whose attribute.
        name: the attribute.
        imports: what names stand for.
        outside: ids of the names that are not local; None for all.
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


def _is_harmless(paths: Sequence[str]) -> bool:
    """Return whether paths with an underscore lead to an exception, or to a view operator of PyTorch's."""
    for path in paths:
        value = resolved(path)
        if not (isinstance(value, type) and issubclass(value, BaseException)) and not is_view(path.split(".")[-1]):
            return False
    return True


@functools.cache
def is_view(name: str) -> bool:
    """Return whether an operator of PyTorch's returns a view of its argument, as its schema says."""
    operator = getattr(torch.ops.aten, name, None)
    if not isinstance(operator, torch._ops.OpOverloadPacket):
        return False
    schemas = [getattr(operator, overload)._schema for overload in operator.overloads()]
    results = [result.alias_info for schema in schemas for result in schema.returns]
    return bool(results) and all(alias is not None and not alias.is_write for alias in results)
