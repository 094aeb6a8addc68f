"""What the text of a submission says: which names its functions mention, and what could hide what it does.

The text is evidence that student code cannot forge: the check process reads it as a syntax tree, and never runs it.
Checks that count or forbid rest on it (see docs/security.md). They reject code whose text does not show what it does:
names built from strings, `exec`, the insides of PyTorch, frames, the garbage collector, other processes and threads.
"""

from __future__ import annotations

import ast
import functools
import string
import sys
import types
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from grader.connection.connection import Connection, Proxy, connection_of
from grader.connection.raised import Line, shown_lines
from grader.model.endings import CheckFailed, say


def words_of(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


_MODULES = words_of(
    """__future__ abc array bisect cmath collections contextlib copy dataclasses datetime decimal enum fractions
    functools heapq itertools json math numbers numpy operator pprint random re statistics string sys textwrap time
    torch typing warnings"""
)
"""Packages whose use the text shows. Others lead to files, processes, threads or the insides of Python."""

_OF_SYS = words_of("getsizeof maxsize float_info byteorder version_info exit argv stdout stderr")
_INSIDE = words_of(
    """ast asyncio bltns builtins codecs concurrent contextvars copyreg ctypes difflib fnmatch gc glob gzip hashlib
    importlib inspect io keyword locale logging mmap mp multiprocessing os pathlib pickle platform
    python_multiprocessing queue shutil signal socket struct subprocess sys sysconfig tarfile tempfile threading
    traceback types uuid weakref zipfile

    bundled_inputs classes collect_env cpp_extension ctypeslib elastic export f2py fx fx_traceback hipify hub jit
    launcher library load load_library loadtxt memmap model_dump ops overrides package profiler read_array rpc save
    savetxt serialization stride_tricks testing to_dlpack tunable CompilationUnit DataSource DisableTorchFunction
    DisableTorchFunctionSubclass ScriptFunction Timer TorchDispatchMode

    attrgetter c_void_p find_spec from_file fromregex genfromtxt get_field getfullargspec get_type_hints import_module
    make_dataclass methodcaller register signature singledispatch singledispatchmethod ForwardRef Formatter
    FunctionType MethodType f_back f_locals f_globals f_builtins f_code tb_frame tb_next gi_frame gi_code cr_frame
    ag_frame func_globals fromfile tofile timeit modules settrace setprofile"""
)
"""Names that lead further: modules that others imported, parts of PyTorch and NumPy that run text, read files, start
threads or switch hooks off, and ways into frames."""

_BUILTINS = words_of("exec eval compile globals locals vars open breakpoint input setattr delattr")
_HARMLESS = words_of(
    """__init__ __len__ __getitem__ __setitem__ __name__ __doc__ __main__ __call__ __iter__ __next__ __repr__ __str__
    __enter__ __exit__ __post_init__ __eq__ __hash__ __lt__ __add__ __radd__ __sub__ __mul__ __rmul__ __matmul__ __neg__
    __contains__ __sizeof__ __version__ __array__ __array_interface__ __all__ __slots__ _LinAlgError _version _base
    _asdict _replace _fields"""
)
_NEVER = ("__name__ == '__main__'", "'__main__' == __name__", "TYPE_CHECKING", "typing.TYPE_CHECKING")
"""Conditions that do not hold while a submission is imported, as Python writes them."""

_NOT_ONES_OWN = words_of(
    "__array_interface__ __array_struct__ __match_args__ __getstate__ __setstate__ __reduce__ __reduce_ex__"
)
"""What a class of the student's must not define: it names attributes by strings, or memory by its address."""

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


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

    Attributes:
        too_deep: the name of a file that nests too deeply to be read here, or "".
        own: names of attributes that the student's own classes and objects have.
        imports: the packages that are imported.
    """

    def __init__(self, files: Mapping[str, bytes], module: str) -> None:
        self._contents = files
        self._modules = {name.removesuffix(".py").split("/")[0] for name in files}
        self._nodes: dict[str, list[ast.AST]] = {}
        self._names: dict[str, dict[str, str]] = {}
        self._bound: dict[str, list[tuple[str, ast.AST]]] = {}
        self.too_deep, self.own, self.imports = "", set[str](), list[Mention]()
        todo = [f"{module}.py"]
        while todo:
            file = todo.pop()
            if file in files and file not in self._nodes:
                self._nodes[file] = []
                try:
                    top = list(_top(ast.parse(files[file]).body))
                except (SyntaxError, ValueError):
                    continue
                except (RecursionError, MemoryError):
                    self.too_deep = file
                    continue
                self._nodes[file] = [node for statement in top for node in ast.walk(statement)]
                todo += self._read(file, top)

    def _read(self, file: str, top: list[ast.stmt]) -> list[str]:
        """Note what a file imports, and what its top gives each name. Gives the student's own files that it needs."""
        names, packages = self._names.setdefault(file, {}), []
        for node in self._nodes[file]:
            match node:
                case ast.Import():
                    for path, alias in ((each.name, each.asname) for each in node.names):
                        root = path.split(".")[0]
                        names[alias or root] = path if alias else root
                        packages.append(Mention(root, file, node.lineno))
                case ast.ImportFrom(module=module, level=level):
                    names.update({each.asname or each.name: f"{module}.{each.name}" for each in node.names})
                    root = file.split("/")[0] if level else (module or "").split(".")[0]
                    packages.append(Mention(root, file, node.lineno))
                case ast.ClassDef(body=body):
                    self.own |= {each.name for each in body if isinstance(each, _DEFINITIONS)}
                case ast.Attribute(attr=name, ctx=ast.Store()):
                    self.own.add(name)
        for statement in top:
            for name in set(_names_in(statement)):
                self._bound.setdefault(name, []).append((file, statement))
        self.imports += packages
        roots = {mention.name for mention in packages}
        return [name for name in self._contents if name.removesuffix(".py").split("/")[0] in roots]

    def uses(self, names: Collection[str]) -> bool:
        """Whether code uses one of these names: by itself, as an attribute or as what it imports."""
        for node in (node for nodes in self._nodes.values() for node in nodes):
            match node:
                case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name) if name in names:
                    return True
        return False

    def shown(self, mention: Mention, folder: str) -> str:
        """The place of a mention with the text of its line, below a message; "" if it has no line."""
        lines = self._contents.get(mention.file, b"").splitlines()  # of bytes, whose lines are those of the parser
        if not 0 < mention.line <= len(lines):
            return ""
        text = lines[mention.line - 1].decode("utf-8", "replace").strip()
        line = Line(mention.file, mention.line, "", text[:120])
        return "\n".join(["", *shown_lines([line], folder)])

    def hidden(self, allow: Collection[str] = ()) -> Mention | None:
        """The first thing in any file that could hide what the code does, apart from words that are allowed."""
        for file, nodes in self._nodes.items():
            fine: set[int] = set()  # ids of nodes that only begin an expression which hides nothing
            for node in nodes:
                for name in self._hides(node, file, fine):
                    if name.split(".")[-1] not in allow and name not in allow:
                        return Mention(name, file, getattr(node, "lineno", 0))
        return None

    def _hides(self, node: ast.AST, file: str, fine: set[int]) -> Iterator[str]:
        """What a node does that could hide something."""
        match node:
            case ast.Import(names=names):
                for path, alias in ((each.name, each.asname) for each in names):
                    yield from [path] * (not self._may_import(path) or (path == "sys" and alias is not None))
            case ast.ImportFrom(module=str(module), level=0) if module.split(".")[0] not in self._modules:
                for name in (each.name for each in node.names):
                    is_open = self._may_import(module) and not _is_inside(name) and (module != "sys" or name in _OF_SYS)
                    yield from [f"{module}.{name}"] * (not is_open)
            case ast.Attribute():
                yield from self._hides_by_attribute(node, file, fine)
            case ast.Call(func=function, args=args):
                yield from _hides_by_call(function, args, fine)
            case ast.MatchClass(kwd_attrs=words):
                yield from (f".{name}" for name in words if _is_inside(name) and not self._is_own(name))
            case ast.FunctionDef(name=name) | ast.Name(id=name, ctx=ast.Store()) if name in _NOT_ONES_OWN:
                yield name
            case ast.Name(id="sys") if self._names[file].get("sys") != "sys":
                pass
            case ast.Name(id=name) if name in _BUILTINS or (name[:2] == "__" and _is_inside(name)):
                yield name
            case ast.Name(id="sys" | "getattr" as name) if id(node) not in fine:
                yield name

    def _hides_by_attribute(self, node: ast.Attribute, file: str, fine: set[int]) -> Iterator[str]:
        match node:
            case ast.Attribute(value=ast.Name(id="sys") as inner, attr=name):
                fine.add(id(inner))
                yield from [f"sys.{name}"] * (name not in _OF_SYS or not isinstance(node.ctx, ast.Load))
            case ast.Attribute(ctx=ast.Store() | ast.Del()) if changed := self._changed(node, file):
                yield changed
            case ast.Attribute(value=ast.Attribute(attr="ctypes") as inner, attr="data"):  # the address of an array
                fine.add(id(inner))
            case ast.Attribute(attr="format" | "format_map") if id(node) not in fine:
                yield "format with attributes, or with a text that is not written out as a string"
            case ast.Attribute(attr=name) if _is_inside(name) and id(node) not in fine and not self._is_own(name):
                yield f".{name}"

    def _is_own(self, name: str) -> bool:
        """Whether a name with an underscore is the student's own, and not that of something in a library as well."""
        return name in self.own and name not in _INSIDE and name[:2] != "__" and name not in _of_libraries()

    def _changed(self, node: ast.Attribute, file: str) -> str:
        """The path of something imported that an assignment changes, or ""; switches of PyTorch's may be set."""
        path = _attribute(node.value, node.attr, self._names[file], ())
        return "" if path.startswith((".", "torch.backends.")) else path

    def _may_import(self, path: str) -> bool:
        first, *rest = path.split(".")
        return first in self._modules or (first in _MODULES and not any(map(_is_inside, rest)))

    def mentions(self, function: str = "") -> list[Mention]:
        """What a function mentions, with all of the student's own that it leads to by name; of all files without one.

        A name counts wherever it stands, whether that line runs or not.
        """
        todo = [function] if function else list(self._bound)
        # `from torch import outer` is an answer to "write `outer`", too.
        imported = [(file, names[function]) for file, names in self._names.items() if function in names]
        mentioned = {Mention(path, file, 0): None for file, path in imported}
        seen = set(todo)
        while todo:
            for file, node in self._bound.get(todo.pop(), ()):
                for path, line in _mentioned(node, self._names[file]):
                    mentioned[Mention(path, file, line)] = None
                    # A name of the student's own leads on, in whichever of the files it is defined.
                    if (name := path.split(".")[-1]) in self._bound and name not in seen:
                        seen.add(name)
                        todo.append(name)
        own = {f"builtins.{name}" for name in self._bound}
        return sorted((each for each in mentioned if each.name not in own), key=lambda each: (each.file, each.line))


def reads_openly(function: Proxy, allow: Collection[str] = ()) -> None:
    """The submission's text contains nothing that could hide what its code does.

    Args:
        function: a function of the student's.
        allow: words that are allowed besides, such as "Timer".

    Raises:
        CheckFailed: it contains such a thing.
    """
    connection = connection_of(function)
    text = text_of(connection)
    if text.too_deep:
        raise CheckFailed(say("your file nests too deeply to be read"), from_text=True)
    if (mention := text.hidden(allow)) is not None:
        word, _, how = mention.name.partition(" ")
        used = f"`{word}` {how}" if how else f"`{word}`"
        what = f"{used} could hide what your code does, so this check cannot judge it; do not use it"
        raise CheckFailed(what + text.shown(mention, connection.folder), from_text=True)


def text_of(connection: Connection) -> Text:
    """The text of a submission, which is parsed once for all checks. A file that does not load is reported as that."""
    connection.names()
    return _text(tuple(connection.files.items()), connection.module)


@functools.lru_cache(maxsize=8)
def _text(files: tuple[tuple[str, bytes], ...], module: str) -> Text:
    return Text(dict(files), module)


@functools.cache
def _of_libraries() -> frozenset[str]:
    """Names of modules of PyTorch and NumPy, and of what `torch` and a tensor have."""
    parts = (name.split(".") for name in list(sys.modules) if name.startswith(("torch.", "numpy.")))
    return frozenset({part for names in parts for part in names} | set(vars(torch)) | set(dir(torch.Tensor)))


def looked_up(path: str) -> Any:
    """What a path names in the packages as they are loaded here, or None. Nothing is imported for it."""
    first, *rest = path.split(".")
    value: Any = sys.modules.get(first)
    for part in rest:
        value = vars(value).get(part) if isinstance(value, types.ModuleType) else getattr(value, part, None)
    return value


def _hides_by_call(function: ast.expr, args: list[ast.expr], fine: set[int]) -> Iterator[str]:
    """What a call by a name that stands in a text could hide."""
    match function, args:
        case ast.Attribute(value=ast.Constant(value=str(text)), attr="format"), _:
            if not _has_path(text):
                fine.add(id(function))
        case ast.Name(id="type"), [_, _, *_]:
            yield "type with three arguments"
        case ast.Name(id="getattr" | "hasattr" as name), [_, named, *_]:
            fine.add(id(function))
            if not isinstance(named, ast.Constant) or not isinstance(named.value, str):
                yield f"{name} with a name that is not written out as a string"
            elif _is_inside(named.value) or named.value in _BUILTINS:
                yield f".{named.value}"


def _has_path(template: str) -> bool:
    """Whether a field of a template for `format` names an attribute or an item, also within the format of another."""
    try:
        fields = list(string.Formatter().parse(template))
    except ValueError:  # which raises where it is used
        return False
    return any(any(mark in (name or "") for mark in ".[") or _has_path(form or "") for _, name, form, _ in fields)


def _is_inside(name: str) -> bool:
    """Whether a name leads to the insides of a library; those that a class of one's own may need do not."""
    return name in _INSIDE or (name.startswith("_") and name.strip("_") != "" and name not in _HARMLESS)


def _top(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements at the top of a file that run when it is imported."""
    for statement in body:
        if isinstance(statement, ast.If) and ast.unparse(statement.test) in _NEVER:
            yield from _top(statement.orelse)
        else:
            yield statement


def _names_in(statement: ast.stmt) -> Iterator[str]:
    """Names that a statement at the top binds, or whose value it may change, such as `table["o"] = torch.outer`."""
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


def _mentioned(node: ast.AST, imports: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    """The names that code mentions, as paths, each with its line. A class in an annotation does not count."""
    nodes = list(ast.walk(node))
    local = {each.arg for each in nodes if isinstance(each, ast.arg)}
    if isinstance(node, _DEFINITIONS):
        local |= {each.id for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    stars = [path.removesuffix("*") for path in imports.values() if path.endswith(".*")]
    notes = [getattr(each, field, None) for each in nodes for field in ("annotation", "returns")]
    of_types = {id(each) for note in notes if note is not None for each in ast.walk(note)}
    roots: set[int] = set()  # ids of names of packages that begin a path
    for each in nodes:
        paths: list[str] = []
        match each:
            case ast.Name(id=name, ctx=ast.Load()) if name not in local and id(each) not in roots:
                paths = [imports.get(name, f"builtins.{name}"), *(star + name for star in stars if name not in imports)]
            case ast.Attribute(value=value, attr=name):
                paths = [_attribute(value, name, imports, local)]
                if isinstance(value, ast.Name) and imports.get(value.id) in _MODULES:
                    roots.add(id(value))
            case ast.Call(func=ast.Name(id="getattr"), args=[value, ast.Constant(value=str(name)), *_]):
                paths = [_attribute(value, name, imports, local)]
            case ast.MatchClass(kwd_attrs=names):
                paths = [f".{name}" for name in names]
            case ast.BinOp(op=ast.MatMult()) | ast.AugAssign(op=ast.MatMult()):
                paths = [".__matmul__"]  # numbers have all operators but this one
        for path in paths:
            if id(each) not in of_types or not isinstance(looked_up(path), type):
                yield path, getattr(each, "lineno", 0)


def _attribute(value: ast.expr, name: str, imports: Mapping[str, str], local: Collection[str]) -> str:
    """The path of an attribute of a module; of anything else, the name of a method."""
    names, root = [name], value
    while isinstance(root, ast.Attribute):
        names.append(root.attr)
        root = root.value
    if isinstance(root, ast.Name) and root.id in imports and root.id not in local:
        return ".".join([imports[root.id], *reversed(names)])
    # What a library gives that is not PyTorch has methods of its own.
    while isinstance(root, (ast.Call, ast.Subscript, ast.Attribute)):
        root = root.func if isinstance(root, ast.Call) else root.value
    library = imports.get(root.id, "torch") if isinstance(root, ast.Name) and root.id not in local else "torch"
    return f".{name}" if library.split(".")[0] == "torch" else f"{library}.{name}"
