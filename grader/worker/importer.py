"""Imports the submission's modules from the bytes that were read and analysed.

So the code that was analysed is the code that runs, and no file that student code writes can replace it. As in plain
Python, a module beside the answer comes before an installed one of the same name, but not before one that is built into
the interpreter.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import os
import sys
import types
from collections.abc import Mapping, Sequence
from importlib.abc import SourceLoader
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec, spec_from_loader

_KEPT = frozenset({"grader", "numpy", "torch"})
"""In these the worker exchanges values; a file of such a name takes the place of none of them."""


class OwnModules(SourceLoader):
    """Finds and loads the modules of a submission.

    Args:
        folder: the folder of its files, in which tracebacks name them.
        files: the Python files, by their paths from the folder.

    Attributes:
        left_out: statements that were not run, each by its file, its line and the package that it needs; see `absent`.
    """

    def __init__(self, folder: str, files: Mapping[str, bytes]) -> None:
        self._folder = folder
        self._files = {file: data for file, data in files.items() if _top_name(file) not in _KEPT}
        self._names = {*map(_top_name, self._files)}
        self._asked: set[str] = set()
        self.left_out: list[tuple[str, int, str]] = []

    @property
    def folder(self) -> str:
        """Return the folder of the files."""
        return self._folder

    def install(self) -> None:
        """Make imports prefer the submission's modules to installed ones.

        Installed modules that are loaded already are replaced, too.
        """
        place = sys.meta_path.index(PathFinder) if PathFinder in sys.meta_path else len(sys.meta_path)
        sys.meta_path.insert(place, self)
        taken = (self._names - {*sys.builtin_module_names}) & sys.modules.keys()
        for name in filter(self._is_imported, taken):
            for module in [each for each in sys.modules if each == name or each.startswith(f"{name}.")]:
                del sys.modules[module]

    def load(self, name: str) -> types.ModuleType:
        """Import the module of this name.

        Raises:
            ImportError: there is no such file.
        """
        self._asked.add(name)
        spec = self.find_spec(name)
        if spec is None or spec.loader is None:
            raise ImportError(f"{name}.py is not a Python file")
        module = module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return module

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module of the submission; None for any other module.

        Part of the protocol of finders.

        Args:
            fullname: the full name of the module.
            path: the folders where a submodule is searched; None for a top-level module.
            target: the module of a reload, which is not used.
        """
        if _top_name(fullname.replace(".", "/")) not in self._names:
            return None  # most imports are of libraries: this must cost nothing
        if path is not None and not any(str(each).startswith(self._folder) for each in path):
            return None  # a part of an installed package
        if path is None and PathFinder.find_spec(fullname) is not None and not self._is_imported(fullname):
            return None  # no file of the submission imports it, but a library may
        if self._file_of(fullname):
            return spec_from_loader(fullname, self)
        place = fullname.replace(".", "/")
        if any(file.startswith(f"{place}/") for file in self._files):  # a package without an __init__.py
            spec = ModuleSpec(fullname, None, is_package=True)
            spec.submodule_search_locations = [os.path.join(self._folder, place)]
            return spec
        return None

    def _file_of(self, fullname: str) -> str:
        """Return the path of a module's file, relative to the folder.

        `model.layers` has "model/layers.py" or "model/layers/__init__.py"; "" if the submission has no such file.
        """
        place = fullname.replace(".", "/")
        return next((file for file in (f"{place}/__init__.py", f"{place}.py") if file in self._files), "")

    def is_package(self, fullname: str) -> bool:
        """Return whether a module is a package; part of the protocol of loaders."""
        return self._file_of(fullname).endswith("/__init__.py")

    def get_filename(self, fullname: str) -> str:
        """Return the path of a module; part of the protocol of loaders."""
        if not (file := self._file_of(fullname)):
            raise ImportError(f"there is no {fullname} in the submission", name=fullname)
        return os.path.join(self._folder, *file.split("/"))

    def get_data(self, path: str | bytes) -> bytes:
        """Return the bytes of a file as they were read; part of the protocol of loaders."""
        place = os.path.relpath(os.fsdecode(path), self._folder).replace(os.sep, "/")
        if place not in self._files:
            raise OSError(f"{place} was not handed in")
        return self._files[place]

    def _is_imported(self, name: str) -> bool:
        """Return whether the submission imports a module of this name.

        The name of a module that `load` was called for counts, too. The first call may parse all files, so call this
        only if an installed library has a module of this name.
        """
        return name in self._asked or name in self._imported_packages

    @functools.cached_property
    def _imported_packages(self) -> set[str]:
        """Return the top-level names of the modules that the submission imports."""
        names: set[str] = set()
        for data in self._files.values():
            with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):  # the import says so
                for node in ast.walk(ast.parse(data)):
                    if isinstance(node, ast.Import):
                        names |= {alias.name.partition(".")[0] for alias in node.names}
                    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                        names.add(node.module.partition(".")[0])
        return names


def _top_name(file: str) -> str:
    """Return the top-level module name of a file: `a` for `a.py` and for `a/b.py`."""
    return file.partition("/")[0].removesuffix(".py")
