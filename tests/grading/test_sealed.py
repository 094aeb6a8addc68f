"""Sealed mistakes open for who makes them, and say nothing to anybody else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.grading.behaviour import Trace, as_file, is_sealed, name_of, read_sealed, seal, unsealed
from grader.model import Verdict

FIRST = {"small": Trace(Verdict.FAILED, "0123"), "other": Trace(Verdict.PASSED)}
SECOND = {"small": Trace(Verdict.FAILED, "4567")}
SENTENCES = {"You tripled it.": [], "Été: 3 x.": ["Tensor"]}


@pytest.fixture
def mistakes() -> bytes:
    """A file with one entry."""
    return as_file({name_of("double", FIRST): [seal("double", [FIRST, SECOND], SENTENCES)]})


def test_same_behaviour_opens(mistakes: bytes, tmp_path: Path) -> None:
    """What was sealed is read back by the same behaviour, under its name."""
    path = tmp_path / "mistakes.json"
    path.write_bytes(mistakes)
    (sealed,) = read_sealed(path).values()
    assert list(read_sealed(path)) == [name_of("double", FIRST)]
    assert unsealed("double", [FIRST, SECOND], sealed, ["Tensor", "sum"]) == list(SENTENCES)
    assert unsealed("double", [FIRST, SECOND], sealed, ["sum"]) == ["You tripled it."]
    assert b"tripled" not in mistakes


@pytest.mark.parametrize(
    ("exercise", "behaviour"),
    [
        ("total", [FIRST, SECOND]),
        ("double", [FIRST, FIRST]),
        ("double", [FIRST]),
        ("double", [{**FIRST, "other": Trace(Verdict.FAILED)}, SECOND]),
        ("double", [{**FIRST, "small": Trace(Verdict.CRASHED, "0123")}, SECOND]),
    ],
)
def test_another_behaviour_opens_nothing(mistakes: bytes, exercise: str, behaviour: list[dict[str, Trace]]) -> None:
    """Another exercise, value, verdict or seed."""
    (sealed,) = json.loads(mistakes)["mistakes"].values()
    assert unsealed(exercise, behaviour, sealed, ["Tensor"]) == []


@pytest.mark.parametrize(
    "change",
    [
        lambda data: b"",
        lambda data: b"[]",
        lambda data: data[:-9],
        lambda data: data + b" ",
        lambda data: data.replace(b'"version": 2', b'"version": 3'),
        lambda data: data.replace(b"[", b'["You tripled it.",'),
        lambda data: as_file({"triples": []}),
        lambda data: as_file({"0" * 32: ["You tripled it."]}),
    ],
)
def test_damaged_or_readable_file_is_none(mistakes: bytes, tmp_path: Path, change: Callable[[bytes], bytes]) -> None:
    """Nobody is told anything of such a file, and no copy may have one."""
    assert is_sealed(mistakes)
    data = change(mistakes)
    assert not is_sealed(data)
    (tmp_path / "mistakes.json").write_bytes(data)
    assert read_sealed(tmp_path / "mistakes.json") == {}
    assert read_sealed(tmp_path / "none.json") == {}
