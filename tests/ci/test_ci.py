"""`grade ci`: the files, the log, the outputs and the page of a job, and its exit status."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest
from click.testing import CliRunner
from support import COURSES, RIGHT, TOTAL, WarmGrade, not_needed, open_already, run_grade, written

from grader.ci.job import Platform, grade_checkout, is_passed
from grader.cli import main
from grader.grading import schedule
from grader.grading.plan import RunPlan
from grader.grading.runtime import Processes, Runtime
from grader.intake.collect import read_submission
from grader.model import Course, Report, Score
from grader.model.errors import GraderError
from grader.model.messages import Setup, Start
from grader.model.progress import Progress
from grader.report.export.formats import Options
from grader.report.read import read_report
from grader.report.schema import report_json
from grader.runner.lane import Lane

pytestmark = pytest.mark.lane

WRONG = "def double(x):\n    return 2 * x\n\n\ndef double_(x):\n    raise ValueError('::error::x')\n"


def environment(folder: Path, **more: str) -> dict[str, str]:
    """What GitHub sets in a private repository."""
    event = folder / "event.json"
    event.write_text('{"repository": {"private": true}}')
    given = {"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "org/hw-ada", "GITHUB_EVENT_PATH": str(event)}
    files = {"GITHUB_OUTPUT": str(folder / "output"), "GITHUB_STEP_SUMMARY": str(folder / "summary.md")}
    return {**given, **files, "GITHUB_WORKSPACE": str(folder), **more}


def test_a_job(tmp_path: Path) -> None:
    """One run writes each file, annotates the student's line, sets outputs, and fails by its policy."""
    written(tmp_path, {"student/Double (1).py": WRONG})  # as in a batch, what was downloaded twice does not get zero
    formats = [f"--format={name}={name}.out" for name in ("junit", "gradescope", "prairielearn", "classroom")]
    ran = run_grade(
        *("ci", "double", "--submission", "student", "--course", str(COURSES / "tiny"), "--json", "report.json"),
        *("--confinement", "none", "--fail-below", "90", *formats),
        cwd=tmp_path,
        env={**os.environ, **environment(tmp_path)},
    )
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "::group::01-1 Double it: started, 8.3 / 10 points\n" in ran.stdout
    assert "::error file=student/Double (1).py,line=6,title=01-1 Double it%3A" in ran.stdout
    assert [line for line in ran.stdout.split("\n") if "::error::x" in line and line.startswith("::error::")] == []
    outputs = dict(line.split("=", 1) for line in (tmp_path / "output").read_text().splitlines())
    told = [outputs[name] for name in ("score", "max_score", "undecided", "passed")]
    assert told == ["8.3", "10", "0", "false"]
    assert "| `01-1 Double it` | started | 8.3 / 10 |" in (tmp_path / "summary.md").read_text()
    made = sorted(path.name for path in tmp_path.iterdir() if path.suffix in (".out", ".json"))
    assert made == ["classroom.out", "event.json", "gradescope.out", "junit.out", "prairielearn.out", "report.json"]
    read = read_report(tmp_path / "report.json")
    assert (read.author, read.exercises[0].file) == ("hw-ada", "Double (1).py")


def test_a_job_whose_time_is_over(tmp_path: Path) -> None:
    """SIGTERM ends it as a whole: the log, the outputs and the files have what was decided until then."""
    written(tmp_path, {"double.py": RIGHT, "total.py": "import time\n\n\ndef total(x):\n    time.sleep(60)\n"})
    words = ("ci", "--course", str(COURSES / "tiny"), "--json", "report.json", "--confinement", "none")
    env = {**os.environ, **environment(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-m", "grader", *words], cwd=tmp_path, env=env, text=True, stdout=subprocess.PIPE
    ) as job:
        until = time.monotonic() + 240
        while time.monotonic() < until and job.poll() is None:
            if (tmp_path / "report.json").exists() and read_report(tmp_path / "report.json").score.earned == 1000:
                break
            time.sleep(0.05)
        job.terminate()
        told, _ = job.communicate()
    score = read_report(tmp_path / "report.json").score
    assert (score.earned, score.undecided > 0) == (1000, True)
    assert f"10 of 15 points; {score.undecided / 100:g} more are undecided, neither earned nor lost\n" in told
    assert f"undecided={score.undecided / 100:g}\n" in (tmp_path / "output").read_text()


def test_a_public_job_on_gitlab(type_grade: WarmGrade, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its log folds through a pipe; nothing that it writes has points; a report that was committed is gone."""
    written(tmp_path, {"double.py": WRONG, "report.json": "mine", "gradescope.json": "mine"})
    (tmp_path / "quality.json").symlink_to("mine.json")
    words = ("ci", "double", "--course", str(COURSES / "tiny"), "--json", "report.json", "--confinement", "none")
    formats = ("gradescope=gradescope.json", "junit=junit.xml", "codequality=quality.json", "markdown=page.md")
    gitlab = {"GITLAB_CI": "true", "CI_PROJECT_VISIBILITY": "internal", "CI_PROJECT_DIR": str(tmp_path)}
    typed = (*words, *(f"--format={format}" for format in formats))
    for variable, value in {**gitlab, "GITHUB_OUTPUT": str(tmp_path / "output")}.items():
        monkeypatch.setenv(variable, value)
    ran = type_grade(*typed, cwd=tmp_path)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert re.search(
        r"\x1b\[0Ksection_start:\d+:grade_0\[collapsed=true\][\r\n]\x1b\[0K01-1 Double it: started\n", ran.stdout
    )
    assert re.search(r"\x1b\[0Ksection_end:\d+:grade_0[\r\n]\x1b\[0K\n", ran.stdout)
    assert "--json is not written: it consists of points" in ran.stdout
    assert "--format gradescope is not written" in ran.stdout
    made = {path.name for path in tmp_path.iterdir() if path.suffix in (".json", ".xml", ".md")}
    assert made == {"junit.xml", "quality.json", "page.md"}
    texts = [ran.stdout, *((tmp_path / name).read_text() for name in (*made, "output"))]
    assert not [text for text in texts if re.search(r"8\.3|1\.7|[0-9] points", text)]
    assert (tmp_path / "output").read_text() == "passed=false\n"
    (row,) = json.loads((tmp_path / "quality.json").read_text())
    assert row["location"] == {"path": "double.py", "lines": {"begin": 6}}
    ran = type_grade(*typed, "--no-points", cwd=tmp_path)
    assert (ran.returncode, "consists of points, which --no-points leaves out" in ran.stderr) == (2, True)


def test_what_was_committed_is_gone_though_nothing_is_graded(type_grade: WarmGrade, tmp_path: Path) -> None:
    """A job that cannot begin keeps no report as its own."""
    (tmp_path / "report.json").write_text("mine")
    ran = type_grade("ci", "--course", "nowhere", "--json", "report.json", cwd=tmp_path)
    assert (ran.returncode, list(tmp_path.iterdir())) == (2, [])


def test_what_was_earned_is_kept_after_each_check(
    tiny: Course, fork_lane: Lane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whenever a platform ends the job, what was earned is written, and what is still to run is undecided."""
    # Each check takes longer than the wait until the next look.
    slow = WRONG.replace("    return", "    time.sleep(0.3)\n    return")
    written(tmp_path, {"double.py": f"import time\n\n\n{slow}", "total.py": TOTAL})
    submission = read_submission(tmp_path, tiny.exercises, "ada")
    monkeypatch.setattr(schedule, "_LOOK_S", 0.02)
    monkeypatch.setattr(Runtime, "processes", open_already(fork_lane))
    seen: list[Report] = []
    plan = RunPlan(tiny, tiny.exercises, Setup(Start.FORK))
    whole = grade_checkout(plan, submission, seen.append, Progress())
    counts = [len(report.exercises[0].checks) for report in seen]
    assert counts == sorted(counts)
    assert (counts[0], counts[-1], len(seen) > 2) == (0, len(fork_lane.checks_of(tiny.exercises[0])), True)
    earned = [report.score.earned for report in seen]
    assert earned == sorted(earned)
    lost = [report.score.possible - report.score.earned - report.score.undecided for report in seen]
    assert (lost[0], lost[-1]) == (0, 170)
    assert lost == sorted(lost)
    assert replace(seen[-1], graded_at="") == replace(whole, graded_at="")
    assert seen[0].score == Score(0, 1500, 1500)
    (tmp_path / "r.json").write_bytes(report_json(whole))
    read = read_report(tmp_path / "r.json")
    assert (is_passed(read, 88), is_passed(read, 89)) == (True, False)  # 13.3 of 15
    (tmp_path / "r.json").write_bytes(report_json(seen[1]))
    assert vars(read_report(tmp_path / "r.json").score) == vars(seen[1].score)
    formats = (f"--format={name}=-" for name in ("junit", "gradescope", "markdown"))
    ran = CliRunner().invoke(main, ["export", str(tmp_path / "r.json"), *formats])
    assert ran.output.startswith("<?xml")
    assert "not_reached" in ran.output
    assert "grading ended before these checks" in ran.output
    assert ran.output.endswith("- `01-2 Sum without a loop`: `Not graded`\n")


def test_an_error_ends_the_grading(tiny: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that cannot be written does, before anything is run; no files hide an error, so the platform tells it."""

    def fail(*args: object) -> NoReturn:
        raise GraderError("no lane can be opened, or the disk is full")

    monkeypatch.setattr(Runtime, "processes", Processes(not_needed, fail))
    (tmp_path / "double.py").write_text(WRONG)
    plan, undone = RunPlan(tiny, tiny.exercises[:1], Setup(Start.FORK)), list[bool]()
    submission = read_submission(tmp_path, tiny.exercises, "ada")
    with pytest.raises(GraderError, match="no lane can be opened"):
        grade_checkout(plan, submission, lambda report: None, Progress(), lambda: undone.append(True))
    assert undone == [True]
    monkeypatch.undo()
    with pytest.raises(GraderError, match="the disk is full"):
        grade_checkout(plan, submission, fail, Progress())


def test_points_are_not_told_in_public(tmp_path: Path) -> None:
    """Where GitHub does not say that a repository is private, it counts as public."""
    events = ('{"repository": {"private": true}}', '{"repository": {"private": false}}', "{}", "[", "")
    environ, is_public = environment(tmp_path), []
    for event in events:
        Path(environ["GITHUB_EVENT_PATH"]).write_text(event)
        is_public.append(Platform.of(environ).is_public)
    assert is_public == [False, True, True, True, True]


def test_other_systems(tmp_path: Path) -> None:
    """GitLab tells whose repository it is; without a CI system nothing is hidden; what cannot be written is named."""
    gitlab = Platform.of({"GITLAB_CI": "true", "CI_PROJECT_NAME": "hw-bo", "CI_PROJECT_VISIBILITY": "private"})
    assert (gitlab.author, gitlab.is_public) == ("hw-bo", False)
    assert Platform.of({"GITLAB_CI": "true"}).is_public
    assert Platform.of({"GITLAB_CI": "true", "CI_PROJECT_VISIBILITY": "internal"}).is_public
    assert Platform.of({}).is_public is False
    at_work = Platform.of({"CI_PROJECT_DIR": str(tmp_path)})
    assert [at_work.folder_of(tmp_path / name) for name in (".", "a/b", "..")] == ["", "a/b", None]
    platform = Platform.of(environment(tmp_path, GITHUB_OUTPUT=str(tmp_path)))
    report = json.loads('{"version": 1, "course": "", "author": "", "digest": "", "graded_at": "", "exercises": []}')
    report |= {"score": {"earned": 0, "possible": 0, "undecided": 0}, "environment": {}}
    (tmp_path / "r.json").write_text(json.dumps(report))
    with pytest.raises(GraderError, match="GITHUB_OUTPUT"):
        platform.publish(read_report(tmp_path / "r.json"), Options(), passed=True, with_result=False)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--format", "junti=x"], "there is no format 'junti'; did you mean junit?"),
        (["--format", "junit"], "say where it goes: junit=FILE"),
        (["--fail-below", "101"], "neither a percentage from 0 to 100 nor never"),
        (["--fail-below", "nan"], "neither a percentage from 0 to 100"),
        (["--course", "nowhere"], "there is no course here"),
        (["--submission", "nowhere"], "is not a folder"),
        ([], "name one that lies outside of it: --course DIR"),
    ],
)
def test_wrong_words_are_answered(tmp_path: Path, words: list[str], told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is graded, with status 2."""
    monkeypatch.chdir(tmp_path)
    ran = CliRunner().invoke(main, ["ci", *words])
    assert ran.exit_code == 2
    assert told in " ".join(ran.output.split())


INPUTS = "def double(x):\n    raise ValueError(str(x.tolist()))\n\n\ndef double_(x):\n    return x\n"
SECRET = "5e" * 32


def inputs_of(type_grade: WarmGrade, folder: Path, *words: str) -> str:
    """What a submission sees of a hidden check, by the report of a command that grades it for staff."""
    work = written(folder / "student", {"double.py": INPUTS})
    home = str(COURSES / "tiny")
    how = ["--course", home] if words[0] == "ci" else []
    typed = [*words, "--submission", str(work), "--json", str(folder / "report.json"), "--confinement", "none", *how]
    ran = type_grade(*typed, "--staff", cwd=Path(home))
    assert ran.returncode == 1, ran.stdout + ran.stderr
    report = json.loads((folder / "report.json").read_text())
    assert report["environment"]["seed"] is None
    (detail,) = details(report)
    assert "[[" in detail
    return detail


def details(report: Mapping[str, Any]) -> list[str]:
    """Of the hidden check with random inputs."""
    return [row["detail"] for row in report["exercises"][0]["checks"] if row["id"] == "random" and not row["shown"]]


def test_hidden_inputs_come_from_a_secret(
    type_grade: WarmGrade, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the staff, and of the author; without one they are fresh."""
    ci = ("ci", "double", "--author", "ada")
    (tmp_path / "secret.txt").write_text(SECRET + "\n")
    mine = inputs_of(type_grade, tmp_path, *ci, "--secret-file", str(tmp_path / "secret.txt"))
    others = [inputs_of(type_grade, tmp_path, *words) for words in (ci, ci, ["double"], ["double"])]
    monkeypatch.setenv("GRADE_SECRET", SECRET)
    assert inputs_of(type_grade, tmp_path, *ci) == mine
    others.append(inputs_of(type_grade, tmp_path, "ci", "double", "--author", "bob"))
    assert len({mine, *others}) == 1 + len(others)


@pytest.mark.parametrize("words", [("--seed", "0"), ("--secret-file", "none"), ("--secret-file", __file__)])
def test_what_is_not_a_secret_is_refused(tmp_path: Path, words: tuple[str, str]) -> None:
    """Nothing is graded with inputs that somebody could compute."""
    ran = CliRunner().invoke(main, ["ci", "--course", str(COURSES / "tiny"), "--submission", str(tmp_path), *words])
    assert ran.exit_code == 2, ran.output


def test_details_of_hidden_checks_are_for_staff(type_grade: WarmGrade, tmp_path: Path) -> None:
    """A report that a student may get says nothing of them; in that for staff, the previous test reads inputs."""
    written(tmp_path, {"double.py": INPUTS})
    words = ("ci", "double", "--course", str(COURSES / "tiny"), "--json", "report.json", "--confinement", "none")
    type_grade(*words, cwd=tmp_path)
    assert details(json.loads((tmp_path / "report.json").read_text())) == [""]
