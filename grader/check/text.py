"""What the text of a submission says: which names its functions mention, and what could hide what it does.

The text is evidence that student code cannot forge: it is read as a syntax tree in the check process, and never run.
Checks that count or forbid rest on it (see docs/security.md). They reject code whose text does not show what it does:
names built from strings, `exec`, the insides of PyTorch, frames, the garbage collector, other processes and threads.
"""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from string import Formatter

import torch


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_MODULES = _words(
    """__future__ abc array bisect cmath collections contextlib copy dataclasses datetime decimal enum fractions
    functools heapq itertools json math numbers numpy operator pprint random re statistics string sys textwrap time
    torch typing warnings"""
)
"""Packages whose use the text shows. Others lead to files, processes, threads or the insides of Python."""

_OF_SYS = _words("getsizeof maxsize float_info byteorder version_info exit argv stdout stderr")
_INSIDE = _words(
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

_BUILTINS = _words("exec eval compile globals locals vars open breakpoint input setattr delattr")
_HARMLESS = _words(
    """__init__ __len__ __getitem__ __setitem__ __name__ __doc__ __main__ __call__ __iter__ __next__ __repr__ __str__
    __enter__ __exit__ __post_init__ __eq__ __hash__ __lt__ __add__ __radd__ __sub__ __mul__ __rmul__ __matmul__ __neg__
    __contains__ __sizeof__ __version__ __array__ __array_interface__ __all__ __slots__ _LinAlgError _version _base
    _asdict _replace _fields"""
)
_NEVER = ("__name__ == '__main__'", "'__main__' == __name__", "TYPE_CHECKING", "typing.TYPE_CHECKING")
"""Conditions that do not hold while a submission is imported, as Python writes them."""

_NOT_ONES_OWN = _words(
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
    """The text of a submission. A file that is no Python has none: code that imports it does not load.

    Args:
        files: by relative name.
        module: the exercise module. Only its file is read, and those that it imports: others are of other exercises.

    Attributes:
        too_deep: the name of a file that nests too deeply to be read here, or "".
        own: names of attributes that the student's own classes and objects have.
    """

    def __init__(self, files: Mapping[str, bytes], module: str) -> None:
        self._contents = files
        self._nodes: dict[str, list[ast.AST]] = {}
        self._imports: dict[str, dict[str, str]] = {}
        self._bound: dict[str, list[tuple[str, ast.AST]]] = {}
        self.too_deep, self.own = "", set[str]()
        self._modules = {name.removesuffix(".py").split("/")[0] for name in files}
        todo = [f"{module}.py"]
        while todo:
            name = todo.pop()
            if name in self._nodes or name not in files:
                continue
            self._nodes[name] = []
            try:
                top = list(_top(ast.parse(files[name]).body))
                self._nodes[name] = [node for statement in top for node in ast.walk(statement)]
            except (SyntaxError, ValueError):
                continue
            except (RecursionError, MemoryError):
                self.too_deep = name
                continue
            self._read(name, top)
            todo += self._imports_of(name)

    def _imports_of(self, file: str) -> Iterator[str]:
        """The submission's own files that a file may import, with all of a package that it imports from."""
        for node in self._nodes[file]:
            if isinstance(node, ast.Import):
                yield from (each for alias in node.names for each in self._files_of(alias.name.split(".")[0]))
            elif isinstance(node, ast.ImportFrom):
                yield from self._files_of(file.split("/")[0] if node.level else (node.module or "").split(".")[0])

    def _files_of(self, first: str) -> list[str]:
        return [name for name in self._contents if name == f"{first}.py" or name.startswith(f"{first}/")]

    def _read(self, file: str, top: list[ast.stmt]) -> None:
        """Note what a file imports, and what its top gives each name."""
        imports = self._imports[file] = {}
        for node in self._nodes[file]:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    root = alias.name.split(".")[0]
                    imports[alias.asname or root] = alias.name if alias.asname else root
            elif isinstance(node, ast.ImportFrom):
                imports.update({alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names})
            elif isinstance(node, ast.ClassDef):
                self.own |= {each.name for each in node.body if isinstance(each, _DEFINITIONS)}
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                self.own.add(node.attr)
        for node in top:
            names = [node.name] if isinstance(node, _DEFINITIONS) else _names_in(node)
            for name in names:
                self._bound.setdefault(name, []).append((file, node))

    def line_of(self, mention: Mention) -> str:
        """The text of the line of a mention; "" if there is none."""
        lines = self._contents.get(mention.file, b"").decode("utf-8", "replace").splitlines()
        return lines[mention.line - 1].strip()[:120] if 0 < mention.line <= len(lines) else ""

    def hidden(self, allow: Collection[str] = ()) -> Mention | None:
        """The first thing in any file that could hide what the code does, apart from words that are allowed."""
        for file, nodes in self._nodes.items():
            fine: set[int] = set()
            for node in nodes:
                for name in self._hides(node, file, fine):
                    if name.split(".")[-1] not in allow and name not in allow:
                        return Mention(name, file, getattr(node, "lineno", 0))
        return None

    def _hides(self, node: ast.AST, file: str, fine: set[int]) -> Iterator[str]:
        """What a node does that could hide something.

        Args:
            node: of the file.
            file: its name.
            fine: ids of nodes that are no more than the beginning of an expression which hides nothing.
        """
        match node:
            case ast.Import() | ast.ImportFrom():
                yield from self._hides_by_import(node)
            case ast.Attribute(value=ast.Name(id="sys") as inner, attr=name):
                fine.add(id(inner))
                yield from [f"sys.{name}"] * (name not in _OF_SYS or not isinstance(node.ctx, ast.Load))
            case ast.Attribute(ctx=ast.Store() | ast.Del()) if changed := self._changed(node, file):
                yield changed
            case ast.Attribute(value=ast.Attribute(attr="ctypes") as inner, attr="data"):  # the address of an array
                fine.add(id(inner))
            case ast.Attribute(attr=name) if _is_inside(name) and id(node) not in fine:
                yield from [f".{name}"] * (not self._is_own(name))
            case ast.MatchClass(kwd_attrs=names):
                yield from (f".{name}" for name in names if _is_inside(name) and not self._is_own(name))
            case ast.FunctionDef(name=name) | ast.Name(id=name, ctx=ast.Store()) if name in _NOT_ONES_OWN:
                yield name
            case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format") as inner):
                if not any(mark in (field or "") for _, field, _, _ in Formatter().parse(text) for mark in ".["):
                    fine.add(id(inner))
            case ast.Attribute(attr="format" | "format_map") if id(node) not in fine:
                yield "format with attributes, or of a text that is not written out"
            case ast.Call(func=ast.Name(id="type"), args=[_, _, *_]):
                yield "type with three arguments"
            case ast.Call(func=ast.Name(id="getattr" | "hasattr" as name) as inner, args=[_, named, *_]):
                fine.add(id(inner))
                if not isinstance(named, ast.Constant) or not isinstance(named.value, str):
                    yield f"{name} with a name that is not written out"
                elif _is_inside(named.value) or named.value in _BUILTINS:
                    yield f".{named.value}"
            case ast.Name(id="sys") if id(node) not in fine and self._imports[file].get("sys") == "sys":
                yield "sys"
            case ast.Name(id="getattr") if id(node) not in fine:
                yield "getattr"
            case ast.Name(id=name) if name in _BUILTINS or (name[:2] == "__" and _is_inside(name)):
                yield name

    def _hides_by_import(self, node: ast.Import | ast.ImportFrom) -> Iterator[str]:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if not self._may_import(alias.name) or (alias.name == "sys" and alias.asname):
                    yield alias.name
        elif node.module and not node.level and node.module.split(".")[0] not in self._modules:
            for name in (alias.name for alias in node.names):
                of_sys = node.module == "sys" and name not in _OF_SYS
                if of_sys or not self._may_import(node.module) or _is_inside(name):
                    yield f"{node.module}.{name}"

    def _is_own(self, name: str) -> bool:
        """Whether a name with an underscore is the student's own, and not that of something in a library as well."""
        return name in self.own and name not in _INSIDE and name[:2] != "__" and name not in _of_libraries()

    def _changed(self, node: ast.Attribute, file: str) -> str:
        """The path of something imported that an assignment changes, or ""; switches of PyTorch's may be set."""
        path = _attribute(node.value, node.attr, self._imports.get(file, {}), ())
        return "" if path.startswith((".", "torch.backends.")) else path

    def _may_import(self, path: str) -> bool:
        first, *rest = path.split(".")
        return first in self._modules or (first in _MODULES and not any(map(_is_inside, rest)))

    def imported(self, packages: Collection[str]) -> Mention | None:
        """The first import of one of these packages."""
        for file, nodes in self._nodes.items():
            for node in nodes:
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                names += [node.module] if isinstance(node, ast.ImportFrom) and node.module and not node.level else []
                for name in (name.split(".")[0] for name in names):
                    if name in packages:
                        return Mention(name, file, getattr(node, "lineno", 0))
        return None

    def mentions(self, function: str = "") -> list[Mention]:
        """What a function mentions, with all of the student's own that it leads to by name; of all files without one.

        A name counts wherever it stands, whether that line runs or not. Annotations and docstrings are no code.
        """
        todo = [function] if function else list(self._bound)
        found: dict[Mention, None] = {}
        for file, imports in self._imports.items():
            if function in imports:  # `from torch import outer` is an answer to "write `outer`", too
                found[Mention(imports[function], file, 0)] = None
        seen = set(todo)
        while todo:
            for file, node in self._bound.get(todo.pop(), ()):
                for path, line in _mentioned(node, self._imports[file]):
                    found[Mention(path, file, line)] = None
                    # A name of the student's own leads on, in whichever of the files it is defined.
                    if (name := path.split(".")[-1]) in self._bound and name not in seen:
                        seen.add(name)
                        todo.append(name)
        own = {f"builtins.{name}" for name in self._bound}
        return sorted((each for each in found if each.name not in own), key=lambda each: (each.file, each.line))


def text_of(files: Mapping[str, bytes], module: str) -> Text:
    """The text of a submission, which is parsed once for all checks."""
    return _text(tuple(files.items()), module)


@functools.lru_cache(maxsize=8)
def _text(files: tuple[tuple[str, bytes], ...], module: str) -> Text:
    return Text(dict(files), module)


@functools.cache
def _of_libraries() -> frozenset[str]:
    """Names of modules of PyTorch and NumPy, and of what `torch` and a tensor have."""
    parts = (name.split(".") for name in list(sys.modules) if name.startswith(("torch.", "numpy.")))
    return frozenset({part for names in parts for part in names} | set(vars(torch)) | set(dir(torch.Tensor)))


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


def _names_in(statement: ast.stmt) -> list[str]:
    """Names that a statement at the top binds, or whose value it may change, such as `table["o"] = torch.outer`."""
    nodes = list(ast.walk(statement))
    names = [node.name for node in nodes if isinstance(node, _DEFINITIONS)]
    names += [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    changed = [node.value for node in nodes if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)]
    changed += [
        node.func.value for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    ]
    return list(dict.fromkeys([*names, *(node.id for node in changed if isinstance(node, ast.Name))]))


def _mentioned(node: ast.AST, imports: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    """The names that a piece of code mentions, as paths, each with its line."""
    nodes = list(_code(node))
    local = {each.arg for each in nodes if isinstance(each, ast.arg)}
    if isinstance(node, _DEFINITIONS):
        local |= {each.id for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    stars = [path.removesuffix("*") for path in imports.values() if path.endswith(".*")]
    for each in nodes:
        line = getattr(each, "lineno", 0)
        match each:
            case ast.Name(id=name, ctx=ast.Load()) if name not in local:
                yield imports.get(name, f"builtins.{name}"), line
                yield from ((star + name, line) for star in stars if name not in imports)
            case ast.Attribute(value=value, attr=name):
                yield _attribute(value, name, imports, local), line
            case ast.Call(func=ast.Name(id="getattr"), args=[value, ast.Constant(value=str(name)), *_]):
                yield _attribute(value, name, imports, local), line
            case ast.MatchClass(kwd_attrs=names):
                yield from ((f".{name}", line) for name in names)
            case ast.BinOp(op=ast.MatMult()) | ast.AugAssign(op=ast.MatMult()):
                yield ".__matmul__", line  # numbers have all operators but this one


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


def _code(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes of code, without annotations."""
    yield node
    skipped = {id(getattr(node, name, None)) for name in ("annotation", "returns")}
    for child in ast.iter_child_nodes(node):
        if id(child) not in skipped:
            yield from _code(child)
