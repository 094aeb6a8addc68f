"""A run plan packed with its files, for other machines, which trust the sender and which the sender trusts."""

from __future__ import annotations

import io
import pickle
from dataclasses import replace
from pathlib import Path

from grader.course.layout import closed_folders, staff_root
from grader.grading.plan import RunPlan

# -- for other machines ------------------------------------------------------------------------------------------------


def pack_plan(plan: RunPlan) -> bytes:
    """Return a run plan as bytes, together with the content of each file that it names."""
    roots = (plan.course.root, staff_root(plan.course.root))

    class Packer(pickle.Pickler):
        def persistent_id(self, value: object) -> tuple[str, bytes | None] | None:
            if not isinstance(value, Path):
                return None
            # Staff's files may lie in the package; the two folders mirror each other, so that no names collide.
            own = next(value.relative_to(root) for root in roots if value.is_relative_to(root))
            return own.as_posix(), value.read_bytes() if value.is_file() else None

    exercises = [replace(exercise, closed=(), right=(), mistakes=None) for exercise in plan.exercises]
    course = replace(plan.course, modules=(), handins=(), broken=())
    Packer(packed := io.BytesIO()).dump(replace(plan, course=course, exercises=exercises))
    return packed.getvalue()


def unpack_plan(packed: bytes, folder: Path) -> RunPlan:
    """Write the files of a packed plan into a folder, and return the plan."""

    class Unpacker(pickle.Unpickler):
        def persistent_load(self, file: tuple[str, bytes | None]) -> Path:
            path = folder / file[0]
            if file[1] is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(file[1])
            return path

    plan: RunPlan = Unpacker(io.BytesIO(packed)).load()
    closed = (folder, *closed_folders(folder))
    return replace(plan, exercises=[replace(exercise, closed=closed) for exercise in plan.exercises])
