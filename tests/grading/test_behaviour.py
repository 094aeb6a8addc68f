"""What answers are compared by: what their code does, and not how it is written."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.check.costs import most_frequent
from grader.grading.behaviour import (
    Trace,
    as_file,
    failures_of,
    is_sealed,
    name_of,
    read_sealed,
    seal,
    traces_of,
    unsealed,
)
from grader.model import Check, GradedCheck, Outcome, Score, Speed, Verdict

FAILED = Verdict.FAILED


def trace(detail: str, verdict: Verdict = FAILED) -> Trace:
    return Trace.of(Outcome("small", verdict, "", detail))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("asked  2.0\n    double.py, line 2, in double\n        return 3 * x", "asked  2.0\n    double.py, line 9"),
        ("yours  0.1234567", "yours  0.1234571"),
        ("<object at 0x7f31> 3", "<object at 0x7f99> 3"),
        ("no file /somewhere/grade-1/work/a.txt 3", "no file /somewhere/grade-2/work/a.txt 3"),
        ("yours  3\ncounted: {'ops': 1}", "yours  3\ncounted: {'ops': 9}"),
    ],
)
def test_how_code_is_written_does_not_count(one: str, other: str) -> None:
    """Lines, rounding, addresses, folders and counts make no difference."""
    assert trace(one) == trace(other)


@pytest.mark.parametrize(
    ("one", "other"), [("yours  3", "yours  4"), ("yours  0.12", "yours  0.13"), ("yours  (1, 2)", "yours  (2, 1)")]
)
def test_what_it_does_counts(one: str, other: str) -> None:
    """Other values are another mistake, and so is another verdict with the same words."""
    assert trace(one) != trace(other)
    assert trace(one) != trace(one, Verdict.CRASHED)


def row(
    check: str, verdict: Verdict, *called: str, cause: str = "values", detail: str = "yours  3", category: str = "shape"
) -> GradedCheck:
    outcome = Outcome(check, verdict, "", detail, cause=cause, called=called)
    return GradedCheck(Check(check, "double", "t", category=category), outcome, Score(0, 10))


def test_of_a_count_its_power_of_two_is_left() -> None:
    """A byte more is written in another way; twice as many are another mistake. In other checks each number counts."""
    texts = [f"`f` makes more than 64 bytes\ncounted {count}, at most 64" for count in ("80", "100", "160")]
    one, other, twice = (Trace.of(Outcome("a", FAILED, "", text), "performance") for text in texts)
    assert one == other != twice
    assert trace(texts[0]) != trace(texts[1])


def test_of_operations_their_names_do_not_count() -> None:
    """A loop is the same mistake, whichever operations it repeats."""
    loops = (Counter(gt=80, item=80), Counter(select=90, add=41, mul=29, sub=1))
    texts = [f"small input  25 operations\nlarge input  240 operations ({most_frequent(ops)})" for ops in loops]
    one, other = (Trace.of(Outcome("a", FAILED, "", text), "performance") for text in texts)
    assert texts[0] != texts[1]
    assert one == other


def test_of_a_measured_time_no_number_is_left() -> None:
    """How much too slow somebody is depends on the machine and its load."""
    speed = (Speed("", "", 2.0, 1.0, 3.0, 1.5, 1.0, 1.0, 9, 3),)
    slow = [
        Outcome("a", FAILED, "", f"takes {ratio} times as long\nby {ratio}", speed=speed) for ratio in ("2.5", "71")
    ]
    assert Trace.of(slow[0], "performance") == Trace.of(slow[1], "performance")


def test_words_of_an_own_error_do_not_count() -> None:
    """Its type does, and so does what PyTorch says."""
    line = "\n    double.py, line 2, in double\n        {}"
    own, other = (trace(f"your `f` raised ValueError: {text}{line.format('raise ValueError(x)')}") for text in "ab")
    assert own == other
    assert own != trace(f"your `f` raised TypeError: a{line.format('raise TypeError(x)')}")
    assert trace(f"your `f` raised ValueError: a{line.format('x.view(3)')}") != other


@pytest.mark.parametrize(
    ("verdict", "cause", "seen"),
    [
        (FAILED, "dtype", True),
        (Verdict.CRASHED, "raised", True),
        (Verdict.SKIPPED, "shape", True),
        (Verdict.SKIPPED, "raised", False),  # not written yet
        (Verdict.SKIPPED, "name", False),
        (Verdict.CRASHED, "signature", False),
        (Verdict.TIMED_OUT, "raised", False),
        (Verdict.OVER_LIMIT, "raised", False),
        (Verdict.INCONCLUSIVE, "", False),
    ],
)
def test_what_can_be_compared(verdict: Verdict, cause: str, seen: bool) -> None:
    """What is not there says nothing, nor does code that never came to an end."""
    rows = [row("a", verdict, "f", cause=cause)]
    assert bool(traces_of(rows)) is seen
    assert bool(failures_of(rows)) is seen


def test_checks_that_call_one_function_fail_together() -> None:
    """However many others fail; a check that calls two functions joins them, and one that calls none is alone."""
    rows = [row("a", FAILED, "f"), row("b", FAILED, "g.weight"), row("c", Verdict.PASSED, "f", "g"), row("d", FAILED)]
    assert sorted(map(sorted, failures_of(rows))) == [["a"], ["b"], ["d"]]
    rows += [row("e", FAILED, "f", "g"), row("h", FAILED, "h")]
    assert sorted(map(sorted, failures_of(rows))) == [["a", "b", "e"], ["d"], ["h"]]


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
