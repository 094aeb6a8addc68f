"""What has not changed is not run again; what has, or may end otherwise, is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from batch.pretend import PretendLane
from support import FORK, InLane

from grader.course.layout import results_path
from grader.grading.plan import RunPlan
from grader.grading.schedule import grade_submission
from grader.grading.store import open_store
from grader.intake.collect import read_submission
from grader.model import Course, GradedExercise, Verdict
from grader.model.messages import Setup


class Home:
    """A student's folder, graded in a pretend lane: what a check says depends on the file alone."""

    def __init__(self, course: Course, folder: Path) -> None:
        self.course = replace(course, root=folder)
        self.folder = folder
        self.jobs: list[str] = []
        self.untouched = False

    def write(self, **files: str) -> None:
        for name, text in files.items():
            path = self.folder / "exercises/01_basics" / name / f"{name}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def grade(self, setup: Setup = FORK, *, fresh: bool = False, **plan: Any) -> list[GradedExercise]:
        """Grade as `grade` does; `jobs` then has what was run."""
        whole = RunPlan(self.course, self.course.exercises, setup, has_folder=True, **plan)
        submission = read_submission(self.folder, whole.exercises, "ada")
        own = {id: replace(files, untouched=self.untouched) for id, files in submission.exercises.items()}
        submission = replace(submission, exercises=own)
        lane: Any = PretendLane(whole.exercises)
        with open_store(results_path(self.course)) as store:
            report = grade_submission(whole, submission, InLane(lane), store, fresh=fresh)
        self.jobs = list(dict.fromkeys(job.split()[0] for job in lane.jobs))
        return list(report.exercises)


@pytest.fixture
def home(tiny: Course, tmp_path: Path) -> Home:
    made = Home(tiny, tmp_path)
    made.write(double="passed", total="failed")
    return made


def test_only_what_changed_is_run(home: Home) -> None:
    """An exercise whose file is as it was has the result that it had; one that was changed is run."""
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
    assert home.jobs == []
    assert home.grade(fresh=True) == first
    assert home.jobs == ["double", "total"]


def test_a_starter_earns_nothing_the_second_time_either(home: Home) -> None:
    """What an untouched starter passes is saved as it was: for no points."""
    home.untouched = True
    first = home.grade(runs_untouched=True)
    assert (first[0].state, first[0].score.earned) == ("not_started", 0)
    assert home.grade(runs_untouched=True) == first
    assert home.jobs == []


@pytest.mark.parametrize("how", [{"runs_untouched": True}, {"compiles": True}, {"setup": replace(FORK, seed=1)}])
def test_another_kind_of_run_is_another_result(home: Home, how: dict[str, Any]) -> None:
    """Other inputs, or another way to run, may end otherwise."""
    home.grade()
    home.grade(**how)
    assert home.jobs == ["double", "total"]


@pytest.mark.parametrize("fresh", [False, True])
def test_checks_that_change_meanwhile_are_run_again(home: Home, monkeypatch: pytest.MonkeyPatch, fresh: bool) -> None:
    """A result is saved as one of the checks as they were before the run."""
    checks, (module, *_) = home.folder / "check_double.py", home.course.modules
    checks.write_text("")
    double, total = module.exercises
    module = replace(module, exercises=(replace(double, shown_checks=checks), total))
    home.course = replace(home.course, modules=(module,))
    run = PretendLane.run

    def changed(*args: Any, **options: Any) -> Any:
        checks.write_text("# changed\n")
        return run(*args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(PretendLane, "run", changed)
        home.grade(fresh=fresh)
    home.grade()
    assert home.jobs == ["double"]


@pytest.mark.parametrize("verdict", [Verdict.TIMED_OUT, Verdict.BROKEN, Verdict.INCONCLUSIVE])
def test_what_may_be_due_to_the_machine_is_run_again(home: Home, verdict: Verdict) -> None:
    """A check that took too long, or could not decide, runs each time."""
    home.write(total=verdict.value)
    home.grade()
    home.grade()
    assert home.jobs == ["total"]


@pytest.mark.parametrize("content", [b"", b"{", b"no database" * 99])
def test_a_damaged_file_is_made_anew(home: Home, content: bytes) -> None:
    """What was saved can be found again."""
    first = home.grade()
    results_path(home.course).write_bytes(content)
    assert home.grade() == first
    assert home.jobs == ["double", "total"]
    home.grade()
    assert home.jobs == []


def test_two_at_once(home: Home) -> None:
    """While another program has the file, a run does without it."""
    first = home.grade()
    with open_store(results_path(home.course)) as other:
        other._connection.execute("BEGIN EXCLUSIVE")
        assert home.grade() == first
        other._connection.rollback()
    assert home.grade() == first
    assert home.jobs == []


@pytest.mark.parametrize(("category", "ran"), [("correctness", []), ("performance", ["total"])])
def test_slow_answers_are_run_again(home: Home, monkeypatch: pytest.MonkeyPatch, category: str, ran: list[str]) -> None:
    """A lost speed check may end otherwise."""
    checks_of = PretendLane.checks_of
    monkeypatch.setattr(
        PretendLane, "checks_of", lambda *args: [replace(check, category=category) for check in checks_of(*args)]
    )
    home.grade()
    home.grade()
    assert home.jobs == ran
