"""`grade verify EXERCISE --answer NAME` verifies only these answers, and does not count as a run of the exercise."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from support import WarmGrade

STAFF = "solutions/01_basics/double"


def said(ran: subprocess.CompletedProcess[str]) -> str:
    """What the command printed, without its line breaks."""
    return " ".join(ran.stdout.split())


@pytest.mark.parametrize(
    ("names", "row", "runs"),
    [
        (("triples",), "- - - 2/2 -", "2 runs"),
        (("triples.py", "changes_input"), "- - - 4/4 -", "4 runs"),
        (("adds", "zeros"), "- - 2/2 - -", "4 runs"),
        (("every function gives zero", "double gives zeros"), "- - - - -", "2 runs"),
        (("starter",), "1/1 - - - -", "1 run"),
    ],
)
def test_only_named_answers_are_verified(
    type_grade: WarmGrade, home: Path, names: tuple[str, ...], row: str, runs: str
) -> None:
    """They may be wrong, right, unusual or constant; the last sentence names them, and the command for the rest."""
    options = [word for name in names for word in ("--answer", name)]
    ran = type_grade("verify", "double", "--seeds", "2", *options, cwd=home)
    assert (ran.returncode, f"01-1 double {row} " in said(ran)) == (0, True), ran.stdout
    answers, was = ", ".join(name.removesuffix(".py") for name in names), "was" if len(names) == 1 else "were"
    assert said(ran).endswith(
        f"No problems found. Only {answers} {was} verified, in {runs}; before you release the exercise, run "
        "grade verify double"
    )


def test_problems_are_those_of_the_named_answers(type_grade: WarmGrade, home: Path) -> None:
    """An answer that no check catches is a problem where it is named, and none where another one is."""
    right = (home / STAFF / "right" / "adds.py").read_text()
    for name, caught_by in (("no_mistake", "random"), ("unknown_check", "nothing")):
        sentence = f'"""You add it.\n\ncaught by: {caught_by}\n"""'
        (home / STAFF / "wrong" / f"{name}.py").write_text(right.replace('"""Adds it to itself."""', sentence))

    def typed(*options: str) -> subprocess.CompletedProcess[str]:
        return type_grade("verify", "--seeds", "1", *options, cwd=home)

    for name, problem in (
        ("no_mistake", "check_random does not catch this wrong answer (no check did)"),
        ("unknown_check", "caught by: there is no check 'nothing'"),
    ):
        ran = typed("--answer", name)
        assert ran.returncode == 1
        assert f"{STAFF}/wrong/{name}.py: {problem}" in said(ran) and "1 problem to fix." in said(ran)
        assert "total" not in ran.stdout
    assert typed("--answer", "triples").returncode == 0
    told = json.loads(typed("--answer", "triples", "--json").stdout)
    assert (told["holds"], told["only"], len(told["exercises"])) == (True, ["triples"], 1)


def test_a_whole_run_and_one_of_named_answers_share_their_results(
    type_grade: WarmGrade, few_unusual: None, home: Path
) -> None:
    """What one of them ran, the other does not run again; `--fresh` with a name repeats no other answer."""

    def running(*options: str) -> str:
        ran = type_grade("verify", "double", "--seeds", "1", *options, cwd=home)
        assert ran.returncode == 0, ran.stdout
        return next((line for line in ran.stdout.split("\n") if line.startswith("running")), "nothing")

    assert running("--answer", "triples").startswith("running 1 submission ")
    assert running().startswith("running 5 submissions ")
    assert (running("--answer", "triples"), running()) == ("nothing", "nothing")
    assert running("--answer", "triples", "--fresh").startswith("running 1 submission ")
    assert running() == "nothing"


def test_an_unknown_answer_is_an_error_that_lists_near_names(type_grade: WarmGrade, home: Path) -> None:
    """It is told before anything runs; so is a name with `--watch`, which runs what was saved."""
    for options, error in (
        (("double", "--answer", "tripls"), "--answer: 01-1 double has no answer 'tripls'; did you mean triples?"),
        (
            ("double", "--answer", "right_as_a_lst", "--answer", "triples"),
            "--answer: 01-1 double has no answer 'right_as_a_lst'; did you mean right_as_a_list or right_as_an_array ",
        ),
        (
            ("double", "--answer", "xyzzy"),
            "--answer: 01-1 double has no answer 'xyzzy'; known are changes_input, triples",
        ),
        (("--answer", "xyzzy"), "--answer: these exercises have no answer 'xyzzy'"),
        (("double", "--watch", "--answer", "triples"), "--watch runs what each save changed; leave out --answer"),
    ):
        ran = type_grade("verify", *options, cwd=home)
        assert (ran.returncode, error in " ".join(ran.stderr.split())) == (2, True), ran.stderr
        assert ran.stdout == "" or "running" not in ran.stdout
