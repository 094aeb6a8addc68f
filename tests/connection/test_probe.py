"""Probes: which file's functions run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from support import Function

from grader.check import call_seeded, gradients
from grader.connection.connection import connection_of
from grader.connection.record import Record
from grader.connection.student import Probe, Student
from grader.model.endings import CheckFailed
from grader.wire.frames import Unsupported


def test_two_probe_files_of_one_name(function: Function, tmp_path: Path) -> None:
    """The shown probe and the hidden one have the same name; each check gets the functions of its own."""
    connection = connection_of(function("def total(x): return x"))
    for folder in ("shown", "hidden", "shown"):
        path = tmp_path / folder / "probe_total.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"def whose():\n    return {folder!r}\n")
        assert Probe(connection, path).whose() == folder


PROBE = """
def call(function, *args):
    return function(*args)

def each(functions, *args):
    return {name: function(*args) for name, function in functions.items()}

def whose():
    return __import__("sys").modules["work"].WHOSE
"""


@pytest.fixture
def sides(function: Function, tmp_path: Path) -> tuple[Student, Student, Probe]:
    """A student who triples, a reference that doubles, and a probe as a check has it."""
    text = "WHOSE = {0!r}\ndef scale(x): return {1} * x\nclass Scale:\n    def __call__(self, x): return {1} * x\n"
    mine = connection_of(function(text.format("student", 3), "scale"))
    theirs = connection_of(function(text.format("reference", 2), "scale", owner="the reference's"))
    theirs.student, mine.reference = mine, theirs
    path = tmp_path / "probe_scale.py"
    path.write_text(PROBE)
    return Student(mine), Student(theirs), Probe(mine, path)


def test_a_probe_runs_beside_what_it_is_given(sides: tuple[Student, Student, Probe]) -> None:
    """With the reference's function it runs in the reference's worker: no student's value takes that one's place."""
    student, reference, probe = sides
    ways: list[Any] = [lambda side: side.scale, lambda side: side.Scale()]
    for scale in ways:
        assert probe.call(scale(student), 5) == 15
        assert probe.call(scale(reference), 5) == 10
        assert probe.each({"a": scale(reference)}, 5) == {"a": 10}
        assert probe.each({"a": scale(student)}, 5) == {"a": 15}
    assert probe.whose() == "student"


def test_a_probe_that_makes_an_input_is_not_a_function_of_the_student(sides: tuple[Student, Student, Probe]) -> None:
    """The function that gets the input is the only one to be blamed, unless a check calls probes alone."""
    student, _, probe = sides
    record = connection_of(student.scale).record
    probe.whose()
    assert record.functions_called() == ("whose",)
    student.scale(2)
    probe.whose()
    assert record.functions_called() == ("scale",)


def test_a_probe_is_not_given_both(sides: tuple[Student, Student, Probe]) -> None:
    """They live in two processes; that is the check's own mistake, and told as that."""
    student, reference, probe = sides
    for given in ({"a": student.scale, "b": reference.scale}, {"a": student.Scale(), "b": reference.scale}):
        with pytest.raises(TypeError, match=r"belongs to another process: .*: call it once for each"):
            probe.each(given, 5)
    with pytest.raises(TypeError, match="belongs to another process"):
        probe.call(reference.scale, student.Scale())


def test_helpers_ask_the_owner(sides: tuple[Student, Student, Probe]) -> None:
    """Probes of ours run beside the function that they are given."""
    student, reference, _ = sides
    x = torch.ones(2)
    for function, factor in ((student.scale, 3), (student.Scale(), 3), (reference.Scale(), 2)):
        assert call_seeded(1, function, x).tolist() == [factor, factor]
    assert [found.tolist() for found in gradients(reference.Scale(), x) if found is not None] == [[2.0, 2.0]]
    with pytest.raises(Unsupported, match="belongs to another process"):
        student.scale(reference.Scale())


ASSERTS = """
import torch

def holds(function):
    assert function(2) == 6, f"twice 3 is 6, and not {function(2)}"
    assert function(torch.ones(2)).sum() == 6

def raises(function):
    raise ValueError("a mistake of the probe's")
"""


def test_an_assertion_of_a_probe_fails_the_check(sides: tuple[Student, Student, Probe], tmp_path: Path) -> None:
    """With its message, or with its own line; what is raised otherwise is the check's to see."""
    student, reference, _ = sides
    path = tmp_path / "probe_asserts.py"
    path.write_text(ASSERTS)
    probe = Probe(connection_of(student.scale), path)
    assert probe.holds(student.scale) is None
    with pytest.raises(CheckFailed, match="twice 3 is 6, and not 4"):
        probe.holds(reference.scale)
    path.write_text(ASSERTS.replace(', f"twice 3 is 6, and not {function(2)}"', ""))
    with pytest.raises(CheckFailed, match=r"assert function\(2\) == 6"):
        probe.holds(reference.scale)
    with pytest.raises(ValueError, match="a mistake of the probe's"):
        probe.raises(student.scale)


def test_a_call_by_a_probe_is_noted_as_such(sides: tuple[Student, Student, Probe]) -> None:
    """Its arguments are the probe's, so no known mistake is called with them; a probe of ours notes the function's."""
    student, _, probe = sides
    connection = connection_of(student.scale)
    connection.begin_check(Record(recording=True))
    student.scale(5)
    probe.call(student.scale, 5)
    call_seeded(0, student.scale, 5)
    assert [call.by_probe for call in connection.record.calls()] == [False, True, False]
