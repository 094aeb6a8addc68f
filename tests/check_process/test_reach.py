"""A rule about the text of an answer judges the code that its checks lead to, and nothing beside it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from check_process.courses import course_with, graded
from support import RIGHT, Grade, message, verdicts

pytestmark = pytest.mark.lane

CHECKS = """
from grader.check import check, assert_does_not_use, assert_does_not_import


@check("C1")
def check_rule(student):
    '''Calls no `outer`'''
    assert_does_not_use(student.double, "outer")


@check("C1")
def check_plain(student):
    '''Uses no NumPy'''
    assert_does_not_import(student, "numpy")


@check("C1")
def check_other(student):
    '''Has another function'''
    student.double_
"""
BESIDE = """
import gc
import os
import subprocess

import numpy as np
import torch
from functools import singledispatch


def draw(x):
    exec("print(x)")
    return np.array(subprocess.run("ls"))


"""


@pytest.fixture(scope="module")
def grade(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grade]:
    """Grades by the checks of this file."""
    folder: Path = tmp_path_factory.mktemp("reach")
    with graded(course_with(folder, CHECKS, ""), folder) as grade:
        yield grade


def test_what_no_check_leads_to_costs_nothing(grade: Grade) -> None:
    """Imports that nothing uses, and a function of the student's own that no check calls."""
    assert set(verdicts(grade(BESIDE + RIGHT)).values()) == {"passed"}


@pytest.mark.parametrize(
    "text",
    [
        BESIDE + RIGHT.replace("return 2 * x", "draw(x); return 2 * x"),
        BESIDE + RIGHT.replace("return x.mul_(2)", "draw(x); return x.mul_(2)"),  # the other one that checks call
        f"{BESIDE}{RIGHT}\ndraw(1) if False else None\n",
    ],
)
def test_what_checks_lead_to_is_judged(grade: Grade, text: str) -> None:
    """By name, through any function that a check of the exercise mentions, or when the file is imported."""
    found = grade(text)
    assert verdicts(found)["rule"] == verdicts(found)["plain"] == "failed"
    assert "`subprocess` could hide what your code does" in message(found, "rule")
    assert "your file imports numpy, which the rule forbids (line" in message(found, "plain")
