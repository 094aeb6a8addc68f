"""What has not changed is told again, with nothing run; what has, or may end otherwise, is run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from batch.pretend import PretendLane

from grader import grading
from grader.grading.grade import Sheet, grade_at_once
from grader.intake.collect import read_submission
from grader.model import Course, GradedExercise, Verdict
from grader.model.messages import Setup, Start
from grader.runner.lane import Run
from grader.student.answered import Answered, in_turn, with_known

SETUP = Setup(Start.FORK)


class Home:
    """A student's folder, graded in a pretend lane: what a check says hangs on the file alone."""

    def __init__(self, course: Course, folder: Path) -> None:
        self.course = replace(course, root=folder)
        self.folder = folder
        self.jobs: list[str] = []

    def write(self, **files: str) -> None:
        for name, text in files.items():
            path = self.folder / "exercises/01_basics" / name / f"{name}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def grade(self, setup: Setup = SETUP, **sheet: Any) -> list[GradedExercise]:
        """Grade as `grade` does; `jobs` then has what was run."""
        whole = Sheet(self.course, self.course.exercises, setup, has_folder=True, **sheet)
        submission = read_submission(self.folder, whole.exercises, "ada")
        answered = Answered(whole, submission)
        known = answered.rows()
        rest = [exercise for exercise in whole.exercises if exercise.id not in known]
        lane = PretendLane(rest)
        report = grade_at_once(replace(whole, exercises=rest), submission, lane)  # type: ignore[arg-type]
        report = with_known(report, whole.exercises, known)
        answered.keep(report.exercises)
        self.jobs = [job.split()[0] for job in lane.jobs]
        return list(report.exercises)


@pytest.fixture
def home(tiny: Course, tmp_path: Path) -> Home:
    made = Home(tiny, tmp_path)
    made.write(double="passed", total="failed")
    return made


def test_only_what_changed_is_run(home: Home) -> None:
    """An exercise whose file is as it was is told as it was; one that was changed is run, and so is one anew."""
    first = home.grade()
    assert home.jobs == ["double", "total"]
    assert home.grade() == first
    assert home.jobs == []
    home.write(total="passed")
    second = home.grade()
    assert home.jobs == ["total"]
    assert (second[0], second[1].state) == (first[0], "done")
    home.write(total="failed")
    assert home.grade() == first
    assert home.jobs == ["total"]


def test_a_starter_earns_nothing_the_second_time_either(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an untouched starter passes is told again as it was: for no points."""
    monkeypatch.setattr(grading, "is_untouched", lambda *_: True)
    first = home.grade(runs_untouched=True)
    assert (first[0].state, first[0].score.earned) == ("not_started", 0)
    assert home.grade(runs_untouched=True) == first
    assert home.jobs == []


@pytest.mark.parametrize("how", [{"runs_untouched": True}, {"compiles": True}, {"setup": replace(SETUP, seed=1)}])
def test_another_kind_of_run_is_another_answer(home: Home, how: dict[str, Any]) -> None:
    """Other inputs, or another way to run, may end otherwise."""
    home.grade()
    home.grade(**how)
    assert home.jobs == ["double", "total"]


def test_other_checks_are_another_answer(home: Home, tmp_path: Path) -> None:
    """When a check is changed, its exercise is run."""
    home.grade()
    checks = tmp_path / "checks.py"
    checks.write_text("# others")
    double, *others = home.course.exercises
    module = home.course.modules[0]
    changed = replace(module, exercises=(replace(double, shown_checks=checks), *others))
    home.course = replace(home.course, modules=(changed, *home.course.modules[1:]))
    home.grade()
    assert home.jobs == ["double"]


@pytest.mark.parametrize("verdict", [Verdict.TIMED_OUT, Verdict.BROKEN, Verdict.INCONCLUSIVE])
def test_what_the_machine_may_have_made_is_run_again(home: Home, verdict: Verdict) -> None:
    """A check that took too long, or could not tell, is asked each time."""
    home.write(total=verdict.value)
    home.grade()
    home.grade()
    assert set(home.jobs) == {"total"}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": 1}', '{"version": 1, "answers": {"double": 3}}'])
def test_a_damaged_file_is_none(home: Home, text: str) -> None:
    """What was kept can be found out again."""
    first = home.grade()
    (home.folder / ".grade/answers.json").write_text(text)
    assert home.grade() == first
    assert home.jobs == ["double", "total"]


@pytest.mark.parametrize(
    ("category", "message", "ran"),
    [
        ("correctness", "wrong", []),
        ("performance", "wrong", ["total"]),
    ],
)
def test_slow_answers_are_run_again(
    home: Home, monkeypatch: pytest.MonkeyPatch, category: str, message: str, ran: list[str]
) -> None:
    """A lost speed check may end otherwise; lines to try that load a file are made together with it."""
    run, checks_of = PretendLane.run, PretendLane.checks_of

    def changed(*args: Any, **more: Any) -> Run:
        outcomes = run(*args, **more).outcomes
        return Run([row if row.verdict is Verdict.PASSED else replace(row, message=message) for row in outcomes], "")

    monkeypatch.setattr(PretendLane, "run", changed)
    monkeypatch.setattr(
        PretendLane, "checks_of", lambda *args: [replace(check, category=category) for check in checks_of(*args)]
    )
    home.grade()
    home.grade()
    assert home.jobs == ran


@pytest.mark.parametrize("known", [{"double"}, {"total"}, {"double", "total"}, set[str]()])
def test_exercises_are_told_in_their_order(tiny: Course, known: set[str]) -> None:
    """What is known is told before what is graded after it, and the rest at the end."""
    double, total, *_ = tiny.exercises
    rows = {exercise.id: GradedExercise.untouched(exercise) for exercise in (double, total)}
    told: list[str] = []
    tell = in_turn(tiny.exercises, {id: rows[id] for id in known}, lambda row: told.append(row.exercise.id))
    for id in rows:
        if id not in known:
            tell(rows[id])
    tell(None)
    assert told == ["double", "total"]
