"""Code that could hide what it does from `source`, and the check that refuses it.

Names built from strings, `exec`, the insides of PyTorch, frames, the garbage collector, other processes and threads:
where code that runs uses one of these, its source does not show what it does.
"""

from __future__ import annotations

import ast
import builtins
import collections
import functools
import string
import sys
from collections.abc import Collection, Iterator, Sequence

import numpy
import torch

from grader.check.names import (
    FUNCTIONS,
    READABLE_PACKAGES,
    Imported,
    bound_names,
    deleted_names,
    imported_by,
    last_name,
    object_at,
    parts_of_annotation,
    paths_of_attribute,
    words_of,
)
from grader.check.source import Mention, SubmittedSource, source_of
from grader.connection.connection import Proxy, connection_of
from grader.model.endings import CheckFailed
from grader.model.public_text import say

_ALONE = READABLE_PACKAGES - {"torch", "numpy"}
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
    importlib inspect io keyword locale logging mmap mp multiprocessing os pathlib pdb pickle platform
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

_METACLASSES = ("ABCMeta", "EnumMeta", "EnumType")

_WITH_NAMES = "with the names of attributes"

_BUILTINS = words_of("exec eval compile globals locals vars open breakpoint input setattr delattr")

_HARMLESS = words_of(
    """__init__ __len__ __getitem__ __setitem__ __name__ __doc__ __main__ __call__ __iter__ __next__ __repr__ __str__
    __enter__ __exit__ __post_init__ __eq__ __hash__ __lt__ __add__ __radd__ __sub__ __mul__ __rmul__ __matmul__
    __neg__ __contains__ __sizeof__ __version__ __file__ __class__ __new__ __array__ __array_interface__ __all__
    __slots__ _version _base _asdict _replace _fields _modules _parameters _buffers"""
)

_NOT_ONES_OWN = words_of(
    "__array_interface__ __array_struct__ __match_args__ __getstate__ __setstate__ __reduce__ __reduce_ex__"
)
"""What a class of the student's must not define: it names attributes by strings, or memory by its address."""


def assert_no_hidden_code(function: Proxy, allow: Collection[str] = ()) -> None:
    """Fail if the submission's source contains anything that could hide what its code does.

    Examples are `exec`, a used `import subprocess`, and `getattr` with a name that is not a string literal.

    Args:
        function: a function of the student's.
        allow: words that are allowed besides, such as "Timer".

    Raises:
        CheckFailed: it contains such a thing, or nests too deeply to be read.
    """
    connection = connection_of(function)
    source = source_of(connection)
    if source.too_deep:
        raise CheckFailed(say("your file nests too deeply to be read"), from_text=True)
    if (mention := hidden_code(source, allow)) is not None:
        word, _, how = mention.name.partition(" ")
        used = f"`{word}` {how}" if how else f"`{word}`"
        what = f"{used} could hide what your code does, so this check cannot judge it; {_advice_about(word, how)}"
        raise CheckFailed(what + source.quote(mention, connection.folder), from_text=True)


def hidden_code(source: SubmittedSource, allow: Collection[str] = ()) -> Mention | None:
    """Return the first name, such as `exec`, that could hide what code does, or None.

    Only code that runs counts.

    Args:
        source: the source of the submission.
        allow: words that are allowed.
    """
    search, harmless = _search_in(source), set[int]()  # ids of nodes that only begin an expression which hides nothing
    for file, node in source.running_nodes():
        for name in search.hiding_names(node, file, harmless):
            if name.split(".")[-1] not in allow and name not in allow:
                return Mention(name, file, getattr(node, "lineno", 0))
    return None


@functools.lru_cache(maxsize=8)
def _search_in(source: SubmittedSource) -> _Search:
    return _Search(source)


class _Search:
    """The search for code that hides something in one submission."""

    def __init__(self, source: SubmittedSource) -> None:
        self._source = source
        self._functions: dict[str, frozenset[str]] = {}

    def _may_be_builtin(self, node: ast.Name, file: str) -> bool:
        """Return whether a name such as `open` may mean Python's builtin where it stands.

        It may not if the name is local, or bound again above this line. A name that some code deletes may mean the
        builtin again.
        """
        if id(node) not in self._source.global_names[file] or isinstance(node.ctx, ast.Store):
            return False
        return self._source.assigned_at[file].get(node.id, node.lineno) >= node.lineno or node.id in self._deleted_names

    @functools.cached_property
    def _deleted_names(self) -> frozenset[str]:
        """The names and attributes that code in any of the files deletes."""
        return frozenset(
            name for tree in self._source.trees.values() for node in ast.walk(tree) for name in deleted_names(node)
        )

    def hiding_names(self, node: ast.AST, file: str, harmless: set[int]) -> Iterator[str]:
        """Yield each name in a node that could hide what code does, or a phrase about it.

        Examples are "exec", and "json handed on" for `f(json)`.

        Args:
            node: a node of the syntax tree; call this with a node before the nodes inside it.
            file: the file that it is in.
            harmless: the ids of nodes that are known to hide nothing; this method adds nodes inside this one.
        """
        yield from sorted(_NOT_ONES_OWN.intersection(bound_names(node)))
        match node:
            case ast.Import() | ast.ImportFrom():
                yield from (each.path for each in imported_by(node) if self._is_risky_import(each, file))
            case ast.FunctionDef(decorator_list=decorators) | ast.AsyncFunctionDef(decorator_list=decorators):
                harmless |= {
                    id(each.func) for each in decorators if isinstance(each, ast.Call) and _has_one_argument(each)
                }
                harmless |= self._reads_of_values_from_checks(node, file)
            case ast.Attribute(value=inner):
                yield from self._hiding_attributes(node, file, harmless)
                if isinstance(inner, ast.Name) and inner.id not in (*_ONLY, "getattr"):
                    harmless.add(id(inner))
            case ast.Call(func=function, args=args, keywords=keywords):
                yield from _hiding_calls(function, args, keywords, harmless, self._names_of_functions(file))
                if last_name(function) == "basicConfig" and any(each.arg != "level" for each in keywords):
                    yield "basicConfig with more than a level"  # a format can name attributes
            case ast.MatchClass(kwd_attrs=words):
                yield from (f".{name}" for name in words if self._is_internal(name) and not self._is_student_name(name))
            case ast.Name():
                yield from self._hiding_words(node, file, harmless)

    def _reads_of_values_from_checks(self, node: ast.AST, file: str) -> set[int]:
        """Return the ids of the nodes in a function that read a value which a check passes.

        These hide nothing: in `def f(x, name): return getattr(x, name)`, the check chooses `name`. That is certain if
        the parameter has no default, the function does not bind its name again, and no other code of the student's
        mentions the function. The function must stand at the top of the student's file, without decorators.
        """
        match node:
            case ast.FunctionDef(name=name, decorator_list=[]) if (
                file == f"{self._source.module}.py" and node in self._source.trees[file].body
            ):
                if self._name_counts[name] > 1 or name[:2] == "__":  # Python calls some of these
                    return set()
            case _:
                return set()
        positional = [*node.args.posonlyargs, *node.args.args]
        required = {each.arg for each in positional[: len(positional) - len(node.args.defaults)]}
        within = list(ast.walk(node))
        bound = collections.Counter(each.arg for each in within if isinstance(each, ast.arg))
        bound.update(name for each in within for name in (*bound_names(each), *deleted_names(each)))
        return {
            id(each) for each in within if isinstance(each, ast.Name) and each.id in required and bound[each.id] == 1
        }

    @functools.cached_property
    def _name_counts(self) -> collections.Counter[str]:
        """How often each name occurs in code that runs.

        A name occurs as a definition, a name, an attribute, an import or a string.
        """
        found = collections.Counter[str]()
        for _, node in self._source.running_nodes():
            found.update(part for each in imported_by(node) for part in each.path.split("."))
            match node:
                case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Constant(value=str(name)):
                    found[name] += 1
                case _:
                    found.update(bound_names(node))
        return found

    def _hiding_words(self, node: ast.Name, file: str, harmless: set[int]) -> Iterator[str]:
        """Yield words for a name if it could hide what code does, such as "exec".

        `f(json)` has the words "json handed on". `harmless` has the ids of nodes that hide nothing.
        """
        match node:
            case ast.Name(id="sys") if self._source.names[file].get("sys") != ["sys"]:
                pass
            case ast.Name(id=name) if name in _BUILTINS and self._may_be_builtin(node, file):
                yield name
            case ast.Name(id=name) if name[:2] == "__" and _is_internal_name(name):
                yield name
            case ast.Name(id="sys" | "os" | "getattr" as name) if self._is_used_as_value(name, node, file, harmless):
                yield name
            case ast.Name(id=name, ctx=ast.Load()) if id(node) not in harmless and (_ALONE | {*_ONLY}).intersection(
                self._source.names[file].get(name, ())
            ):
                yield f"{name} handed on"
            case ast.Name(id=name) if (
                name in _COPIES_NAMES and name in self._source.names[file] and id(node) not in harmless
            ):
                yield f"{name} {_WITH_NAMES}"

    def _is_used_as_value(self, name: str, node: ast.AST, file: str, harmless: set[int]) -> bool:
        """Return whether `getattr`, `sys` or `os` is used as a value, as `os` in `f(os)`.

        It is not in `os.getcwd()` and `getattr(x, "T")`: then the node is in `harmless`. `os` must be the module.
        """
        return id(node) not in harmless and (name != "os" or "os" in self._source.names[file].get("os", ()))

    def _is_risky_import(self, imported: Imported, file: str) -> bool:
        """Return whether a used import gives access to something that could hide code.

        `import subprocess` and `from torch import fx` do; `import math` and `from os import getcwd` do not.
        """
        name, path = imported
        if name not in self._source.used[file] and name != "*":
            return False
        first, *rest = path.split(".")
        if first in self._source.own_modules or not first:  # of the student's own, which is read as well
            # Who has the exercise module as an object can give its names another meaning unseen.
            return path.lstrip(".") == self._source.module
        if path == name or name == first:  # `import torch.fx`: what is used of it is an attribute
            return first not in (*READABLE_PACKAGES, *_ONLY)
        if path == _PLOTS or _are_exceptions_or_views([path]) or _is_testing_assertion(rest):
            return False
        if first in _ONLY:
            return len(rest) != 1 or rest[0] not in _ONLY[first]
        renamed = name != rest[-1] if rest and rest[-1] in _COPIES_NAMES else False
        return first not in READABLE_PACKAGES or renamed or any(map(self._is_internal, rest))

    def _hiding_attributes(self, node: ast.Attribute, file: str, harmless: set[int]) -> Iterator[str]:
        """Yield the text of an attribute if it could hide what code does.

        Examples are "sys.modules", ".f_globals", and "torch.relu" where code assigns to it. Nodes that are harmless
        beside it are added to `harmless`.
        """
        match node:
            case ast.Attribute(value=ast.Attribute(ast.Name("sys") as root, "path") as inner, attr="append" | "insert"):
                harmless |= {id(root), id(inner)}  # where to look for files: which code runs does not depend on it
            case ast.Attribute(value=ast.Name(id=root) as inner, attr=name) if (
                root in _ONLY
                and id(node) not in harmless
                and (root in ("sys", "os") or self._source.names[file].get(root) == [root])
            ):
                harmless.add(id(inner))
                yield from [f"{root}.{name}"] * (name not in _ONLY[root] or not isinstance(node.ctx, ast.Load))
            case ast.Attribute(value=ast.Attribute(attr="testing") as inner, attr=name) if _is_testing_assertion(
                ["testing", name]
            ):
                harmless.add(id(inner))
            case ast.Attribute(attr="__class__", ctx=ast.Store() | ast.Del()):
                yield ".__class__"
            case ast.Attribute(ctx=ast.Store() | ast.Del()) if changed := self._replaced_attribute(node, file):
                yield changed
            case ast.Attribute(value=ast.Attribute(attr="ctypes") as inner, attr="data"):  # the address of an array
                harmless.add(id(inner))
            case ast.Attribute(attr="format" | "format_map") if id(node) not in harmless:
                yield "format with a template that is not a string literal, or that reads attributes"
            case ast.Attribute(attr=name) if name in _COPIES_NAMES and id(node) not in harmless:
                yield f".{name} {_WITH_NAMES}"
            case ast.Attribute(value=inner, attr=name) if self._is_internal(name) and id(node) not in harmless:
                paths = paths_of_attribute(node.value, name, self._source.names[file], None)
                if _are_exceptions_or_views(paths):
                    harmless.add(id(inner))
                elif not self._is_student_name(name, paths):
                    yield f".{name}"

    def _is_internal(self, name: str) -> bool:
        """Return whether a name leads to a library's internals, or runs code in annotations.

        `singledispatch` and its `register` run such code. They do not count if all annotations are names of classes.
        """
        return _is_internal_name(name) or (name in _RUNS_NOTES and not self._annotations_are_classes)

    @functools.cached_property
    def _annotations_are_classes(self) -> bool:
        """Whether all annotations in code that runs consist of names of classes.

        `x: dict[str, int]` does. `x: "int"` and `x: f()` do not.
        """
        notes = (
            (file, note)
            for file, node in self._source.running_nodes()
            for field in ("annotation", "returns")
            if (note := getattr(node, field, None)) is not None
        )
        return all(self._is_class(file, part) for file, note in notes for part in parts_of_annotation(note))

    def _is_class(self, file: str, part: ast.AST) -> bool:
        """Return whether a part of an annotation is a class, None or `...`.

        The class may be a library's or the student's own.
        """
        match part:
            case ast.Constant(value=value):
                return value is None or value is Ellipsis
            case ast.Name(id=name) if name in self._source.bindings:
                return all(isinstance(node, ast.ClassDef) for _, node in self._source.bindings[name])
            case ast.Name(id=name):
                paths = self._source.names[file].get(name, [f"builtins.{name}"])
            case ast.Attribute(value=value, attr=name):
                paths = paths_of_attribute(value, name, self._source.names[file], None)
            case _:
                return False
        return all(path.startswith("typing.") or isinstance(object_at(path), type) for path in paths)

    def _is_student_name(self, name: str, paths: Sequence[str] = ()) -> bool:
        """Return whether an attribute of this name is the student's own, not a library's.

        If `paths` name modules, these must be the student's own. Otherwise a class or an object of the student's has
        the attribute, and no library has the name.
        """
        if name in _INSIDE or name[:2] == "__":
            return False
        if roots := {path.split(".")[0] for path in paths if path[0] != "."}:  # of a module
            return roots <= self._source.own_modules and name in self._source.bindings
        return name in self._source.own and name not in _names_of_libraries()

    def _names_of_functions(self, file: str) -> frozenset[str]:
        """Return the names in a file that are bound to functions of the file, and never to anything else."""
        if (known := self._functions.get(file)) is not None:
            return known
        tree = self._source.trees[file]
        named = (name for node in ast.walk(tree) if not isinstance(node, FUNCTIONS) for name in bound_names(node))
        defined = {node.name for node in ast.walk(tree) if isinstance(node, FUNCTIONS)}
        args = (each.arg for each in ast.walk(tree) if isinstance(each, ast.arg))
        return self._functions.setdefault(file, frozenset(defined.difference(named, args)))

    def _replaced_attribute(self, node: ast.Attribute, file: str) -> str:
        """Return the path in an imported module that a node sets or deletes, or "".

        For `torch.relu = f` it is "torch.relu". Setting a switch in `torch.backends` replaces nothing.
        """
        paths = paths_of_attribute(node.value, node.attr, self._source.names[file], None)
        return next((path for path in paths if not path.startswith((".", "torch.backends."))), "")


def _advice_about(word: str, how: str) -> str:
    """Return the advice, such as "do not use it", on a word that could hide code.

    The advice ends a message. `how` is the part of the message that says how the word is used; "" if any use hides
    code.
    """
    package = word.split(".")[0]
    if how or (package in (*vars(builtins), *READABLE_PACKAGES, "") and package != "sys") or package[:1] == "_":
        return "do not use it"
    if package in sys.stdlib_module_names:
        return f"`{package}` gives access to files, processes, threads or Python's internals; do not use it"
    return f"`{package}` runs code that is not in your file; do not use that package"


@functools.cache
def _names_of_libraries() -> frozenset[str]:
    """Return the names of modules and attributes of PyTorch and NumPy.

    The attributes are those of `torch`, `numpy` and a tensor.
    """
    parts = (name.split(".") for name in list(sys.modules) if name.startswith(("torch.", "numpy.")))
    return frozenset({part for names in parts for part in names} | {*vars(torch), *vars(numpy), *dir(torch.Tensor)})


def _is_testing_assertion(names: Sequence[str]) -> bool:
    """Return whether a dotted name is an assertion such as `torch.testing.assert_close`.

    `names` are the parts of the dotted name.
    """
    return len(names) > 1 and names[-2] == "testing" and names[-1].startswith("assert_")


def _has_one_argument(call: ast.Call) -> bool:
    """Return whether a call has exactly one argument and no keywords, such as `wraps(f)`.

    A decorator of this form copies only the attributes that every function has.
    """
    return isinstance(call.func, ast.Name | ast.Attribute) and not call.keywords and len(call.args) == 1


def _hiding_calls(
    function: ast.expr,
    args: list[ast.expr],
    keywords: list[ast.keyword],
    harmless: set[int],
    functions: Collection[str],
) -> Iterator[str]:
    """Yield words for a call if it could hide what code does.

    For `getattr(x, name)` they are "getattr with a name that is not a string literal". Such calls are those of
    `getattr`, `hasattr`, `type` and metaclasses. Those of `format` with a harmless template are added to `harmless`.

    Args:
        function: the node of what is called.
        args: the positional arguments of the call.
        keywords: the keyword arguments of the call.
        harmless: the ids of nodes that hide nothing; this function adds those that it finds harmless.
        functions: the names that are always bound to functions of the file.
    """
    match function, args:
        case ast.Name("update_wrapper") | ast.Attribute(attr="update_wrapper"), [ast.Name(id=name), _]:
            if not keywords and name in functions:  # else what it changes may be a module
                harmless.add(id(function))
        case ast.Call(func=ast.Name("type") | ast.Attribute(attr="__class__")), [_, _, _]:
            yield "type with three arguments"
        case ast.Name(id=name) | ast.Attribute(attr=name), [_, _, _] if name in _METACLASSES:
            yield f"{name} with three arguments"
        case ast.Attribute(value=ast.Constant(value=str(text)), attr="format"), _:
            if not _reads_attribute_or_item(text):
                harmless.add(id(function))
        case ast.Name(id="type"), [_, _, *_]:
            yield "type with three arguments"
        case ast.Name(id="getattr" | "hasattr" as name), [of, named, *_]:
            harmless |= {id(function), *([id(of)] if isinstance(of, ast.Name) and of.id not in _ONLY else [])}
            if id(named) in harmless:  # a value of the check's
                pass
            elif not isinstance(named, ast.Constant) or not isinstance(named.value, str):
                yield f"{name} with a name that is not a string literal"
            elif _is_internal_name(named.value) or named.value in _BUILTINS:
                yield f".{named.value}"


def _reads_attribute_or_item(template: str) -> bool:
    """Return whether a `format` template reads an attribute or an item.

    "{0.name}", "{[0]}" and "{0:{1.name}}" do; "{:.2f}" does not.
    """
    try:
        fields = list(string.Formatter().parse(template))
    except ValueError:  # which raises where it is used
        return False
    return any(
        any(mark in (name or "") for mark in ".[") or _reads_attribute_or_item(form or "")
        for _, name, form, _ in fields
    )


def _is_internal_name(name: str) -> bool:
    """Return whether a name leads to the internals of a library, as the name of a module such as `os` does.

    A name that begins with an underscore counts, too, except `_` itself and harmless names such as `__len__`.
    """
    return name in _INSIDE or (name.startswith("_") and name.strip("_") != "" and name not in _HARMLESS)


def _are_exceptions_or_views(paths: Sequence[str]) -> bool:
    """Return whether each dotted path names an exception, or an operator that returns a view.

    These hide nothing. Examples are "subprocess.CalledProcessError" and "torch._neg_view".
    """
    for path in paths:
        value = object_at(path)
        if not (isinstance(value, type) and issubclass(value, BaseException)) and not _is_view(path.split(".")[-1]):
            return False
    return True


@functools.cache
def _is_view(name: str) -> bool:
    """Return whether an operator of PyTorch's returns a view of its argument, as its schema says."""
    operator = getattr(torch.ops.aten, name, None)
    if not isinstance(operator, torch._ops.OpOverloadPacket):
        return False
    schemas = [getattr(operator, overload)._schema for overload in operator.overloads()]
    results = [result.alias_info for schema in schemas for result in schema.returns]
    return bool(results) and all(alias is not None and not alias.is_write for alias in results)
