"""What teachers write in checks of PyTorch: right, or refused in words that tell what to write; nothing is silent.

`idioms.txt` has them. Each is a check of one exercise, so that three gradings show them all.
"""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from support import COURSES, FORK, grade_one

from grader.course.load import load_course
from grader.course.names import find_exercises
from grader.intake.folder import read_submission
from grader.lanes.open import open_lane
from grader.model import Outcome

HEAD = """
import asyncio, collections, contextlib, copy, dataclasses, enum, functools, inspect, io, logging, math, pickle, random
import types, warnings
import numpy as np
import pytest
import torch
from torch import nn
"""


class Idiom(NamedTuple):
    """Modules by what is right or wrong about them, the check, and what its author is told of it, if it is refused."""

    modules: Mapping[str, str]
    check: str
    refused: str


def read_idioms() -> dict[str, Idiom]:
    """The idioms of the file, by name."""
    found = {}
    text = Path(__file__).with_name("idioms.txt").read_text(encoding="utf-8")
    for section in text.split("\n== ")[1:]:
        name, rest = section.split("\n", 1)
        right, *parts = re.split(r"\n-- (\w+)\n", "\n" + rest.rstrip())
        told = dict(zip(parts[::2], parts[1::2], strict=True))
        check, refused = told.pop("check"), told.pop("refused", "")
        found[name] = Idiom({"right": right, "wrong": right, "odd": right, **told}, check, refused)
    return found


IDIOMS = read_idioms()
HOLDING = {name: idiom for name, idiom in IDIOMS.items() if not idiom.refused}
REFUSED = {name: idiom for name, idiom in IDIOMS.items() if idiom.refused}
FAILS = {"wrong": {"failed"}, "odd": {"failed", "crashed", "skipped"}}


def written(name: str, check: str) -> str:
    """The text of a check file's function."""
    if "def check_" in check:
        return check
    head = f'@check("C1", try_this="look")\ndef check_{name}(student, reference, rng):\n    """{name}"""\n'
    return head + textwrap.indent(check, "    ")


def rewritten(root: Path, exercise: str, idioms: Mapping[str, Idiom]) -> None:
    """Let the checks of an exercise be these idioms, and its reference the right module."""
    (root / f"exercises/01_basics/{exercise}/{exercise}.py").write_text('"""All\n\nC1  All.\n"""  # TODO\n')
    (root / f"exercises/01_basics/{exercise}/check_{exercise}.py").unlink()
    folder = root / "solutions/01_basics" / exercise
    (folder / f"{exercise}.py").write_text(module(idioms, "right"))
    checks = [written(name, idiom.check) for name, idiom in idioms.items()]
    (folder / f"check_{exercise}.py").write_text(
        HEAD + "from grader.check import check\n\n" + "\n\n".join(checks) + "\n"
    )


def module(idioms: Mapping[str, Idiom], which: str) -> str:
    """The text of a module for all of them."""
    return HEAD + "\n".join(idiom.modules[which] for idiom in idioms.values())


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, list[Outcome]]]:
    """What became of each idiom's checks, by which of the modules was handed in."""
    root = Path(shutil.copytree(COURSES / "tiny", tmp_path_factory.mktemp("idioms") / "course"))
    # What is refused is so for all modules, so that one exercise more and the right module show it.
    kinds = {"double": HOLDING, "total": REFUSED}
    for exercise, idioms in kinds.items():
        rewritten(root, exercise, idioms)
    course = load_course(root)
    found: dict[str, dict[str, list[Outcome]]] = {name: {} for name in IDIOMS}
    with open_lane(course.exercises, FORK) as lane:
        for exercise, which in (("total", "right"), ("double", "right"), *(("double", which) for which in FAILS)):
            desk = root.parent / f"{exercise}_{which}"
            desk.mkdir()
            (desk / f"{exercise}.py").write_text(module(kinds[exercise], which))
            (item,) = find_exercises(course, exercise)
            for row in grade_one(item, read_submission(desk, [item], which), lane).checks:
                found[row.check.id.split("[")[0]].setdefault(which, []).append(row.outcome)
    return found


@pytest.mark.parametrize("name", HOLDING)
def test_an_idiom_is_right_about_right_and_wrong(name: str, outcomes: dict[str, dict[str, list[Outcome]]]) -> None:
    """It passes the right module, fails the wrong one, and a value of a wrong kind breaks no check."""
    found = outcomes[name]
    assert {(outcome.verdict.value, outcome.detail) for outcome in found["right"]} == {("passed", "")}
    for which, verdicts in FAILS.items():
        assert {outcome.verdict.value for outcome in found[which]} <= verdicts


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_is_refused_in_words(name: str, outcomes: dict[str, dict[str, list[Outcome]]]) -> None:
    """Its author is told, and nobody loses a point for it."""
    (outcome,) = outcomes[name]["right"]
    assert outcome.verdict.value == "broken"
    assert REFUSED[name].refused in outcome.detail


LIGHT = """
import sys
w = nn.Parameter(torch.ones(2))
optimizer = torch.optim.AdamW([w], lr=0.1)
student.light(w).sum().backward()
optimizer.step()
torch.testing.assert_close(w.grad, torch.full((2,), 2.0))
assert {"torch._dynamo", "torch.distributed.tensor"}.isdisjoint(sys.modules)
"""


def test_a_check_with_an_optimizer_imports_no_compiler(tmp_path: Path) -> None:
    """A check process is kept light, as workers are; in one that has run other checks nobody could tell."""
    root = Path(shutil.copytree(COURSES / "tiny", tmp_path / "course"))
    idioms = {"light": Idiom({"right": "def light(x): return x * 2"}, LIGHT, "")}
    rewritten(root, "double", idioms)
    (item,) = find_exercises(load_course(root), "double")
    (tmp_path / "double.py").write_text(module(idioms, "right"))
    with open_lane([item], FORK) as lane:
        (row,) = grade_one(item, read_submission(tmp_path, [item], "somebody"), lane).checks
    assert (row.outcome.verdict.value, row.outcome.detail) == ("passed", "")


def test_there_are_enough() -> None:
    """The issue asks for more than twenty."""
    assert len(IDIOMS) > 60
