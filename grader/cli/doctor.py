"""`grade doctor`: is the student's course complete, does PyTorch work, what can the sandbox do."""

from __future__ import annotations

import getpass
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from grader.cli import options
from grader.model.errors import CourseError
from grader.report.console import Say, print_json, terminal_width
from grader.report.safe import WIDTH, for_terminal, prose

if TYPE_CHECKING:
    from grader.model.messages import Setup
    from grader.runner.promises import ReachedLevel

_NAME = 18
"""Columns of the names of facts."""

_NOTES = {"torch": "it works", "fork": "the fast way", "spawn": "slower than fork, with the same verdicts"}
"""What a fact, by its name or its value, means to a student."""

TESTED = {"torch": "2.13", "numpy": "2.4"}
"""The newest versions with which all tests passed: those of constraints.txt."""

_MEANING = {
    "full": "student code sees the interpreter and nothing else, and leaves nothing behind",
    "reduced": "student code cannot read your files, use the network or start processes",
    "none": "student code runs in a process of its own with limits, but can do what you can do",
}

_FROM = {"none": "promised at every level", "reduced": "promised at reduced and full", "full": "promised at full only"}


@click.command("doctor")
@options.json
@options.start
def doctor_command(as_json: bool, start: str | None) -> None:
    """Check your course, this computer and its sandbox."""
    say = Say(quiet=as_json)
    say.meanwhile("Looking ...")
    from grader.grading.lanes import setup_of
    from grader.runner.open_source import open_worker_source
    from grader.runner.promises import SandboxPlan

    setup = setup_of(start)
    for name, value in _course_rows():  # first: it also helps where no worker starts
        say(*_row_lines(name, value))
    facts = _machine_facts(setup)
    # Workers are started as a batch would. With no least level: what is missing is to be shown, not refused.
    with closing(open_worker_source(setup.start, SandboxPlan())) as source:
        reached = source.wait_ready()
    access = _access_of_check_processes(setup)
    say(*_doctor_lines(facts, reached, access))
    if as_json:
        print_json(doctor_data(facts, reached, access))


def _background_process_lines() -> Iterator[str]:
    """Yield a sentence for each background process that waits for the next command.

    An example is "process 4711 stays for 540 s more (310 MB)". If no process waits, a sentence says why.
    """
    from grader.runner.warm import warm_processes, why_not_warm

    found, problem = [], why_not_warm()
    try:
        found = list(warm_processes()) if sys.platform == "linux" else []
    except OSError as error:
        problem = problem or str(error)
    for warm in found:
        if not warm.pids:
            yield "a process of another version of the grader stays;  grade stop  ends it"
            continue
        fits = "" if warm.fits else "; made for another environment or installation, so they are not used here"
        several = len(warm.pids) > 1
        pids = f"processes {' and '.join(map(str, warm.pids))} stay" if several else f"process {warm.pids[0]} stays"
        yield f"{pids} for {warm.idle_s:.0f} s more ({warm.memory_mb} MB){fits}"
    if not found:
        yield f"no background processes: {problem or 'the next  grade  leaves some for ten minutes'}"


def _access_of_check_processes(setup: Setup) -> Mapping[str, str]:
    """Return what the sandbox still lets a check process use, in words, by kind of access.

    An example is `{"memory": "3072 MiB", "network": "nothing", ...}`. Only `--start fork` confines check processes;
    otherwise each text says that they reach all that the user can reach.
    """
    from grader.model.messages import Start

    if setup.start is not Start.FORK:  # Linux alone has what holds them
        return dict.fromkeys(
            ("memory", "network", "files"), "everything that you can reach; only --start fork confines them"
        )
    from grader.sandbox.check_confinement import reach_of_check_process

    return reach_of_check_process()


def _machine_facts(setup: Setup) -> Mapping[str, object]:
    """Return facts about the machine, by their names in the output of `grade doctor`.

    They are versions, the system, and the user: `{"Python": "3.12.8", "processors": 8, "user": "ada", ...}`.
    """
    from grader.grading.store import describe_machine

    machine = describe_machine(setup, None)
    return {
        "grader": machine.grader,
        "Python": machine.python,
        "torch": machine.torch,
        "numpy": machine.numpy,
        "system": machine.os,
        "processors": os.cpu_count(),
        "user": _user_name(),
        "workers start by": machine.start,
    }


def _user_name() -> str:
    if hasattr(os, "getuid") and os.getuid() == 0:
        return "root"
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a number without a name, as in many containers
        return str(os.getuid())


def _row_lines(name: str, value: str) -> Iterator[str]:
    return prose(f"{name:{_NAME}}{for_terminal(value, one_line=True)}", terminal_width(), "", " " * _NAME)


def _course_rows() -> Iterator[tuple[str, str]]:
    """Yield facts about the student's course, each as a name and a text.

    They are its path, whether files are missing, the progress, and the student's editor. An example is
    `("files", "complete")`.
    """
    from grader.course.layout import is_student_folder, progress_path
    from grader.model.report import PASSES_HERE
    from grader.student.folder import CHANGED, changed_checks, original_digests, read_progress
    from grader.student.rows import rows_of

    try:
        course = options.course_here()
    except CourseError as error:
        yield "course", str(error)
        return
    yield "course", f"{course.title}, in {course.root}"
    if is_student_folder(course.root):
        missing = [path for path in original_digests(course.root) if not (course.root / path).exists()]
        if missing:
            yield "files", f"{missing[0].as_posix()} is missing, {len(missing)} in all. To get them:  grade update"
        else:
            yield "files", "complete"
        for exercise in course.exercises:
            for path in changed_checks(course, exercise):
                yield "", CHANGED.format(name=path.name)
    progress = read_progress(course)
    rows = rows_of(course, progress)
    done = [row.state in ("done", PASSES_HERE) for row in rows]
    what = "pass the shown checks" if any(row.exercise.withheld.checks for row in rows) else "are done"
    saved = progress_path(course).relative_to(course.root).as_posix()
    yield "progress", progress.problem or f"{sum(done)} of {len(done)} exercises {what}; saved in {saved}"
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    yield "editor", editor or "not set: set VISUAL or EDITOR, and  grade open  uses it"


def _doctor_lines(facts: Mapping[str, object], reached: ReachedLevel, access: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines that `grade doctor` prints; see `doctor_data` for the arguments.

    They have facts, what the sandbox prevents, and what check processes can reach.
    """
    for name, value in facts.items():
        notes = [
            note for note in (_NOTES.get(name) or _NOTES.get(str(value)), _note_if_newer(name, str(value))) if note
        ]
        yield from _row_lines(name, f"{value}: {'; '.join(notes)}" if notes else str(value))
    yield from _row_lines("GPU", "not needed: device exercises run on a simulated GPU")
    for text in _background_process_lines():
        yield from _row_lines("warm", text)
    yield ""
    if reached.findings:
        yield "The sandbox: what student code can and cannot do here, tried in a worker"
    for level in dict.fromkeys(row.level.word for row in reached.findings):
        yield f"  {_FROM[level]}"
        for row in (each for each in reached.findings if each.level.word == level):
            yield f"  {'FAIL' if row.why_not else 'ok':6}{row.name}: {row.sentence}"
            if row.why_not:
                yield from prose(row.why_not, WIDTH, " " * 10, "  ")
    yield f"Confinement: {reached.level.word}"
    missing = reached.missing()
    for line in (_MEANING[reached.level.word], *missing):
        yield from prose(line, WIDTH, "  ", "  ")
    if missing:
        yield "  Another way to full confinement is a container; see docs/security.md"
    yield ""
    yield "Check processes, which run a course's checks: what remains within their reach"
    for name, value in access.items():
        yield from prose(f"{name:{_NAME - 2}}{for_terminal(value, one_line=True)}", WIDTH, "  ", " " * (_NAME - 2))


def _note_if_newer(name: str, version: str) -> str:
    """Return a note if a library is newer than the version that was tested; else "".

    If torch 2.13 was tested, 2.14.0 returns a note, and 2.13.1 returns "".
    """
    from packaging.version import Version

    if name not in TESTED or Version(version).release[:2] <= Version(TESTED[name]).release[:2]:
        return ""
    return f"newer than {TESTED[name]}, with which tensorgrade was tested, so results may differ from what a task says"


def doctor_data(facts: Mapping[str, object], reached: ReachedLevel, access: Mapping[str, str]) -> dict[str, Any]:
    """Return the facts that `grade doctor` prints as a dict for JSON.

    Args:
        facts: the facts by name.
        reached: the level of confinement, and what was tried.
        access: the things that check processes can still reach, by name.
    """
    return {
        "facts": dict(facts),
        "confinement": reached.level.word,
        "tried": [
            {"name": it.name, "level": it.level.word, "holds": not it.why_not, "found": it.why_not}
            for it in reached.findings
        ],
        "missing": reached.missing(),
        "check_processes": dict(access),
    }
