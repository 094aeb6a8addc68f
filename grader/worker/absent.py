"""Packages that an exercise is solved without: what becomes of an import of one, and of a file that has one.

The workers of such an exercise never had these packages, and see no file of them. Here is what a student reads about
it; and a statement that needs one takes nothing else along, so that an import that nothing uses costs nothing.
"""

from __future__ import annotations
import __future__

import ast
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, NoReturn

from grader.worker.importer import OwnModules

_SENTENCE = "{} is not available here: this exercise is solved in plain Python, with the standard library alone"
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def missing_package_error(package: str) -> ModuleNotFoundError:
    """Return the error that an import of a forbidden package raises."""
    return ModuleNotFoundError(_SENTENCE.format(package), name=package)


def package_of(error: BaseException) -> str:
    """Return the package whose import raised this error; "" for any other error."""
    return (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""


class AbsentPackages(MetaPathFinder):
    """Refuses to import packages, with an error that says that the exercise is solved without them.

    Args:
        packages: the names of the packages.
    """

    def __init__(self, packages: Collection[str]) -> None:
        self._packages = frozenset(packages)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Raise an error for a module of a forbidden package; return None for any other.

        Part of the protocol of finders.

        Args:
            fullname: the full name of the module.
            path: the folders where a submodule is searched, which are not used.
            target: the module of a reload, which is not used.
        """
        package = fullname.partition(".")[0]
        if package in self._packages:
            raise missing_package_error(package)
        return None


class Absent:
    """A stand-in for what needs a package that is not there: to use it raises the error of the import."""

    def __init__(self, package: str) -> None:
        self.__dict__["package"] = package

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):  # Python itself looks for such names, and expects an AttributeError
            raise AttributeError(name)
        raise missing_package_error(self.__dict__["package"])

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise the error that an import of the package raises."""
        raise missing_package_error(self.__dict__["package"])

    def __instancecheck__(self, instance: object) -> NoReturn:
        raise missing_package_error(self.__dict__["package"])


class PlainModules(OwnModules):
    """The modules of a submission, in a worker without the packages that its exercise forbids.

    A statement at the top of a file that needs one of them is left out, and what it would have bound is `Absent`. Only
    imports are left out without a note.

    Args:
        folder: the folder of its files; lines of errors name them there.
        files: the Python files, by their paths from the folder.
        packages: the packages that it does without.
    """

    def __init__(self, folder: str, files: Mapping[str, bytes], packages: Collection[str]) -> None:
        super().__init__(folder, files)
        self._packages = frozenset(packages)

    def install(self) -> None:
        """Make imports prefer the submission's modules, and fail for forbidden packages."""
        super().install()
        sys.meta_path.insert(0, AbsentPackages(self._packages))

    def exec_module(self, module: ModuleType) -> None:
        """Run the statements of a module one by one; part of the protocol of loaders.

        So a statement that needs a forbidden package is left out alone, and the others run.
        """
        path = self.get_filename(module.__name__)
        tree = ast.parse(self.get_data(path), path)
        compile(tree, path, "exec", dont_inherit=True)  # what is wrong with the file as a whole
        module.__doc__ = ast.get_docstring(tree, clean=False)
        flags = 0
        for node in _with_split_imports(tree.body):
            flags |= _future_flags(node)
            code = compile(ast.Module([node], []), path, "exec", flags, dont_inherit=True)
            try:
                exec(code, vars(module))  # noqa: S102  what a worker is for
            except ModuleNotFoundError as error:
                if not self._may_be_left_out(node, package := package_of(error)):
                    raise
                if not isinstance(node, ast.Import | ast.ImportFrom):
                    self.left_out.append((path.removeprefix(self._folder).lstrip("/\\"), node.lineno, package))
                for name in _bound_names(node):
                    vars(module).setdefault(name, Absent(package))

    def _may_be_left_out(self, node: ast.stmt, package: str) -> bool:
        """Return whether a statement that raised can be skipped, because a package is missing.

        True if the exercise forbids the package. True, too, if the statement itself imports the package, and the
        submission has no module of this name.

        Args:
            node: the statement.
            package: the package whose import raised the error.
        """
        if package in self._packages:
            return True
        match node:
            case ast.Import([ast.alias(name)]) | ast.ImportFrom(module=str(name), level=0):
                return name.partition(".")[0] == package and package not in self._names
        return False


def _with_split_imports(nodes: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements; split `import a, b` into one statement for each module.

    So `import torch, math` still binds `math` if `torch` is forbidden.
    """
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (ast.copy_location(ast.Import([alias]), node) for alias in node.names)
        else:
            yield node


def _future_flags(node: ast.stmt) -> int:
    """Return the compiler flags that an import from `__future__` sets; else 0.

    Later statements are compiled with these flags, as each statement is compiled by itself.
    """
    if not isinstance(node, ast.ImportFrom) or node.module != "__future__":
        return 0
    flags = 0
    for alias in node.names:
        flags |= int(getattr(__future__, alias.name).compiler_flag)
    return flags


def _bound_names(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement binds in its module.

    `import a.b` binds `a`, `from a import b as c` binds `c`, and `def f(): y = 1` binds `f`.
    """
    if isinstance(node, ast.Import | ast.ImportFrom):
        for alias in node.names:
            yield alias.asname or alias.name.partition(".")[0]
    elif isinstance(node, _DEFINITIONS):
        yield node.name
    else:
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                yield part.id
