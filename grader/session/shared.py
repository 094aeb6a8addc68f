"""Staff's shared code, as a package that check files import."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec, spec_from_file_location

from grader.model.messages import PlannedExercise


def share(planned: Sequence[PlannedExercise]) -> None:
    """Make the shared code of a course importable by the name of its folder, and nothing else of the folder around it.

    It is the check process that imports it, with all that a check may do. References get it as files of their worker.
    """
    found = {name: path for item in planned for name, path in item.shared.items()}
    if not found:
        return
    name, path = next(iter(found.items()))
    package = name.split("/", 1)[0]
    folder = path.parents[name.count("/") - 1]
    start = folder / "__init__.py"
    spec: ModuleSpec | None
    if start.is_file():
        spec = spec_from_file_location(package, start, submodule_search_locations=[str(folder)])
    else:
        spec = ModuleSpec(package, None, is_package=True)
        spec.submodule_search_locations = [str(folder)]
    assert spec is not None
    module = module_from_spec(spec)
    sys.modules[package] = module
    if spec.loader is not None:
        spec.loader.exec_module(module)
