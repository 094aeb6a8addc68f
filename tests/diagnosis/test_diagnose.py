"""A submission that behaves like a known wrong answer is told its sentence; any other one is told nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from support import FORK, Grade, grade_one

from grader.diagnosis.diagnose import diagnose
from grader.diagnosis.known import Known
from grader.jobs import Part
from grader.lanes.lane import Lane, Run
from grader.model import Check, Course, Exercise, GradedExercise, Submission

IN_PLACE = "def double_(x):\n    return x.mul_(2)\n"
TRIPLES = "def double(x):\n    y = x + x\n    return y + x\n\n\ndef double_(x):\n    return x.add_(2 * x)\n"
SENTENCE = "You tripled it; double means two times."


class Counted:
    """A lane that counts what is run in it, by the code's first line."""

    def __init__(self, lane: Lane) -> None:
        self.lane = lane
        self.watch = lane.watch
        self.ran: list[bytes] = []

    def run(self, exercise: Exercise, files: dict[str, bytes], seed: int, *, part: Part) -> Run:
        self.ran.append(next(iter(files.values())))
        return self.lane.run(exercise, files, seed, part=part)

    def checks_of(self, exercise: Exercise) -> list[Check]:
        return self.lane.checks_of(exercise)


def submission_of(exercise: Exercise, text: str) -> Submission:
    return Submission("somebody", {exercise.id: {exercise.file_name: text.encode()}}, {}, {}, "")


def diagnosed(
    lane: Lane | Counted, exercise: Exercise, text: str, *, seed: int = 0, known: Known | None = None
) -> GradedExercise:
    """A text, graded and diagnosed."""
    submission = replace(submission_of(exercise, text), paths={exercise.id: Path("nowhere.py")})
    graded = grade_one(exercise, submission, lane.lane if isinstance(lane, Counted) else lane, seed)
    setup = replace(FORK, seed=seed)
    return diagnose(graded, submission, setup, lane, known or Known(setup))  # type: ignore[arg-type]


@contextmanager
def wrong_ones(exercise: Exercise, folder: Path, *answers: str) -> Iterator[Exercise]:
    """The exercise with other wrong answers."""
    paths = []
    for number, text in enumerate(answers):
        paths.append(folder / f"wrong_{number}.py")
        paths[-1].write_text(text)
    yield replace(exercise, wrong=tuple(paths))


@pytest.fixture
def double(tiny: Course) -> Exercise:
    """An exercise with two wrong answers."""
    return tiny.exercises[0]


@pytest.mark.parametrize("seed", [0, 5])
def test_a_known_mistake_is_told(double: Exercise, fork_lane: Lane, seed: int) -> None:
    """However it is written, and whatever the inputs are; points stay as they are."""
    told = diagnosed(fork_lane, double, TRIPLES, seed=seed)
    assert told.diagnosis == SENTENCE
    assert told.score.earned == 170


@pytest.mark.parametrize(
    "text",
    [
        TRIPLES.replace("2 * x", "x"),  # right in place: it passes what the wrong answer does not
        TRIPLES.replace("y + x", "y + y"),  # four times
        TRIPLES.replace("return y + x", "return (y + x).double()"),  # one more check fails
        f"import torch\n\n\ndef double(x):\n    return torch.zeros_like(x)\n\n\n{IN_PLACE}",
    ],
)
def test_another_mistake_is_not_told(double: Exercise, fork_lane: Lane, text: str) -> None:
    """Nearly a known mistake is none."""
    assert diagnosed(fork_lane, double, text).diagnosis is None


@pytest.mark.parametrize(
    "text",
    [
        f"def double(x):\n    return 2 * x\n\n\n{IN_PLACE}",  # right
        "def double(x) return",  # does not load
        IN_PLACE,  # no such function
        f"def double(x):\n    raise NotImplementedError\n\n\n{IN_PLACE}",
        f"def double(x, y):\n    return 2 * x\n\n\n{IN_PLACE}",
        f"def double(x):\n    while True:\n        pass\n\n\n{IN_PLACE}",
        f"def double(x):\n    return [2 * x]\n\n\n{IN_PLACE}",  # another kind: no value shows a mistake
    ],
)
def test_nothing_is_run_where_nothing_can_be_told(double: Exercise, fork_lane: Lane, text: str) -> None:
    """Full marks, stubs, what does not load and the like cost no time."""
    lane = Counted(fork_lane)
    assert diagnosed(lane, double, text).diagnosis is None
    assert lane.ran == []


def test_costs_alone_tell_nothing(tiny: Course, fork_lane: Lane) -> None:
    """A loop of Python's is told by the check that counts."""
    lane = Counted(fork_lane)
    text = "def total(x):\n    t = 0 * x.sum()\n    for y in x:\n        t = t + y\n    return t\n"
    assert diagnosed(lane, tiny.exercises[1], text).diagnosis is None
    assert lane.ran == []


def test_two_that_behave_alike_are_both_told(double: Exercise, fork_lane: Lane, tmp_path: Path) -> None:
    """Of three, none is."""
    answers = [f'"""Sentence {name}.\n\ncaught by: small\n"""\n\n{TRIPLES}' for name in "abc"]
    with wrong_ones(double, tmp_path, *answers[:2]) as exercise:
        assert diagnosed(fork_lane, exercise, TRIPLES).diagnosis == "Sentence a. Or: Sentence b."
    with wrong_ones(double, tmp_path, *answers) as exercise:
        assert diagnosed(fork_lane, exercise, TRIPLES).diagnosis is None


RIGHT = "def double(x):\n    return 2 * x\n\n\n"
WRONG, WRONG_IN_PLACE = RIGHT.replace("2", "5"), IN_PLACE.replace("2", "7")
TWO = (
    f'"""Fives.\n\ncaught by: small\n"""\n\n{WRONG}{IN_PLACE}',
    f'"""Sevens.\n\ncaught by: in_place\n"""\n\n{RIGHT}{WRONG_IN_PLACE}',
)


@pytest.mark.parametrize("seed", [0, 5])
def test_two_at_once_are_both_told(double: Exercise, fork_lane: Lane, tmp_path: Path, seed: int) -> None:
    """That which explains what is told in full comes first, whatever their files are called."""
    with wrong_ones(double, tmp_path, *reversed(TWO)) as exercise:
        assert diagnosed(fork_lane, exercise, WRONG + WRONG_IN_PLACE, seed=seed).diagnosis == "Fives. And: Sevens."


@pytest.mark.parametrize(
    "text",
    [
        WRONG.replace("5", "6") + WRONG_IN_PLACE,  # one of both is another mistake
        WRONG + WRONG_IN_PLACE.replace("mul_(7)", "add_(6 * x.abs())"),  # right for one element, and not for the other
        f"{WRONG}def double_(x):\n    return 7 * x\n",
    ],
)
def test_half_of_two_mistakes_is_not_told(double: Exercise, fork_lane: Lane, tmp_path: Path, text: str) -> None:
    """Where no known mistake explains what is left, nothing is said of the other either."""
    with wrong_ones(double, tmp_path, *TWO) as exercise:
        assert diagnosed(fork_lane, exercise, text).diagnosis is None


def test_of_two_pairs_what_is_certain_is_told(double: Exercise, fork_lane: Lane, tmp_path: Path) -> None:
    """One of two that behave alike may not be it; the one beside it is."""
    with wrong_ones(double, tmp_path, *TWO, TWO[1].replace("Sevens", "Seven times")) as exercise:
        assert diagnosed(fork_lane, exercise, WRONG + WRONG_IN_PLACE).diagnosis == "Fives."


def test_of_two_at_once_that_with_a_value_is_told(double: Exercise, fork_lane: Lane, tmp_path: Path) -> None:
    """What shows no value is too little to name a mistake by; beside another one it explains what is left."""
    kind = "def double_(x):\n    return None\n"
    with wrong_ones(double, tmp_path, TWO[0], TWO[1].replace(WRONG_IN_PLACE, kind)) as exercise:
        assert diagnosed(fork_lane, exercise, WRONG + kind).diagnosis == "Fives."


def test_one_that_cannot_be_read_leaves_the_others(double: Exercise, fork_lane: Lane, tmp_path: Path) -> None:
    """What one file keeps is not in the reference: that is told by `grade verify`."""
    bad = '"""Bad.\n\ncaught by: small\nkeeps: nothing\n"""\n'
    with wrong_ones(double, tmp_path, bad, f'"""Good.\n\ncaught by: small\n"""\n\n{TRIPLES}') as exercise:
        assert diagnosed(fork_lane, exercise, TRIPLES).diagnosis == "Good."


def test_what_is_lost_on_other_rules_is_another_mistake(double: Exercise, fork_lane: Lane, tmp_path: Path) -> None:
    """A wrong answer that keeps a rule is not run for who loses much on it: its file says so."""
    lane = Counted(fork_lane)
    with wrong_ones(double, tmp_path, f'"""Wrong.\n\ncaught by: in_place\n"""\n\n{TRIPLES}') as exercise:
        assert diagnosed(lane, exercise, TRIPLES).diagnosis is None
    assert lane.ran == []


def test_a_wrong_answer_runs_once_for_all(double: Exercise, fork_lane: Lane, tmp_path: Path) -> None:
    """What was found out is kept, also on disk, in a file that holds no value of an input."""
    lane, path = Counted(fork_lane), tmp_path / "mistakes.json"
    known = Known(FORK, path)
    diagnosed(lane, double, TRIPLES, known=known)
    assert any(source != TRIPLES.encode() for source in lane.ran)
    known.write()
    lane.ran.clear()
    assert diagnosed(lane, double, TRIPLES, known=Known(FORK, path)).diagnosis == SENTENCE
    assert set(lane.ran) == {TRIPLES.encode()}
    assert "asked" not in path.read_text()
    assert "." not in path.read_text()


def test_a_changed_wrong_answer_is_run_again(double: Exercise, fork_lane: Lane, tmp_path: Path) -> None:
    """What is known of the file as it was does not count."""
    lane, known = Counted(fork_lane), Known(FORK)
    first, second = (f'"""No.\n\ncaught by: small\n"""\n\n{TRIPLES.replace("y + x", text)}' for text in ("y", "y + x"))
    with wrong_ones(double, tmp_path, first) as exercise:
        assert diagnosed(lane, exercise, TRIPLES, known=known).diagnosis is None
    with wrong_ones(double, tmp_path, second) as exercise:
        assert diagnosed(lane, exercise, TRIPLES, known=known).diagnosis == "No."


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": 1, "traces": {"a": {"b": ["c"]}}}', "[" * 100_000])
def test_a_damaged_file_counts_as_none(double: Exercise, fork_lane: Lane, tmp_path: Path, text: str) -> None:
    """It is found out again, and written anew."""
    path = tmp_path / "mistakes.json"
    path.write_text(text)
    known = Known(FORK, path)
    assert diagnosed(fork_lane, double, TRIPLES, known=known).diagnosis == SENTENCE
    known.write()
    assert len(path.read_text()) > 100


def test_a_part_tells_nothing(double: Exercise, fork_lane: Lane) -> None:
    """Where not all checks ran, what was left out might tell two mistakes apart."""
    submission = submission_of(double, TRIPLES)
    graded = grade_one(double, replace(submission, paths={double.id: Path("nowhere.py")}), fork_lane)
    part = replace(graded, checks=graded.checks[:1], left_out=graded.checks[1:])
    assert diagnose(part, submission, FORK, fork_lane, Known(FORK)).diagnosis is None


def test_an_untouched_starter_has_no_mistake(double: Exercise, fork_lane: Lane, grade_text: Grade) -> None:
    """What the course gave is not the student's."""
    graded = replace(grade_text(TRIPLES), state="not_started")
    assert diagnose(graded, submission_of(double, TRIPLES), FORK, fork_lane, Known(FORK)).diagnosis is None
