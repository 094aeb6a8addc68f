"""The student's commands as they are typed, in a folder of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from unittest import mock

import click
import pytest
from click.testing import CliRunner, Result
from support import COURSES, RIGHT, TOTAL, WarmGrade, written

from grader.cli import GROUPS, main
from grader.model.errors import CourseError
from grader.model.messages import Start

pytestmark = pytest.mark.lane

WRONG = RIGHT.replace("2 * x", "3 * x")


def double(home: Path) -> Path:
    return home / "exercises/01_basics/double/double.py"


def test_an_exercise_from_the_first_try_to_the_reference(type_grade: WarmGrade, home: Path) -> None:
    """A second run of the same file runs nothing and offers a hint, full marks the reference and what comes next."""
    double(home).write_text(WRONG)
    first, second = (type_grade("double", cwd=home).stdout for _ in range(2))
    assert "Stuck?" not in first
    assert second.endswith("Stuck? Here is the first of three hints:  grade hint double\n")
    said = "1 exercise has not changed since it was last run, so this is the result of that run (--fresh runs all)\n"
    assert said not in first
    assert " ".join(second.split()).count(" ".join(said.split())) == 1
    assert second.splitlines()[1:8] == first.splitlines()[1:8]
    assert "has not changed" not in type_grade("double", "--fresh", cwd=home).stdout
    refused = type_grade("show", "double", "--reference", cwd=home)
    assert refused.returncode == 2
    assert "the solutions are shown once you have full marks for double" in refused.stderr
    double(home).write_text(RIGHT)
    done = type_grade("double", cwd=home)
    assert done.returncode == 0
    assert done.stdout.endswith(
        "Compare your code with the reference and 1 other right solution:\n"
        "  grade show double --reference\n"
        "Play: find the fault that this plants in your code:  grade break double\n"
        "Next: 01-2 Sum without a loop:  grade next\n"
    )
    shown = type_grade("show", "1-1", "--reference", cwd=home).stdout
    assert "def double(x):" in shown
    assert "The checks of this exercise count nothing, so there are no numbers to compare." in shown
    listed = json.loads(type_grade("list", "--json", cwd=home).stdout)["exercises"]
    states = [(row["state"], row["earned"], row["solved"]) for row in listed]
    assert states == [("done", 10, True), ("not_started", 0, False)]


def test_counters_stand_beside_those_of_the_reference(type_grade: WarmGrade, home: Path) -> None:
    """Where a check that a student has counts, both sides are shown."""
    starter = home / "exercises/01_basics/total/total.py"
    starter.write_text("def total(x):\n    return (x * 1).sum()\n")
    checks = starter.with_name("check_total.py")
    checks.write_text(
        "import torch\nfrom grader.check import assert_costs_at_most, check\n\n\n"
        '@check("C1")\ndef check_few(student):\n    """Few operations"""\n'
        "    assert_costs_at_most(student.total, (torch.ones(3),), ops=9)\n"
    )
    assert type_grade("total", cwd=home).returncode in (0, 1)
    progress = home / ".grade/progress.json"
    progress.write_text(progress.read_text().replace('"solved": false', '"solved": true'))
    shown = type_grade("show", "total", "--reference", cwd=home)
    assert [line.split()[:2] for line in shown.stdout.splitlines()[-3:]] == [
        ["yours", "2"],
        ["reference", "1"],
        ["product", "2"],
    ]


def test_rules_and_totals(type_grade: WarmGrade, home: Path) -> None:
    """Only the checks of the named rules run; the others are neither earned nor lost, and told apart."""
    double(home).write_text(double(COURSES / "tiny").read_text().split("\n\n\n")[0] + "\n\n\n" + WRONG)
    ran = type_grade("1-1", "C3", "--json", str(home / "report.json"), cwd=home)
    assert ran.returncode == 0
    assert "  1 of 4 checks ran.\n" in ran.stdout
    assert "1.7 / 1.7 points, 8.3 more in checks that did not run" in ran.stdout
    assert " in part " in ran.stdout
    assert "The checks that ran passed. To run all checks:  grade double" in ran.stdout
    (exercise,) = json.loads((home / "report.json").read_text())["exercises"]
    assert exercise["score"] == {"earned": 1.7, "possible": 10.0, "undecided": 8.3}
    assert exercise["left_out"] == {"checks": 3, "points": 8.3}
    assert exercise["state"] == "started"
    assert [row["id"] for row in exercise["checks"]] == ["in_place"]
    lost = type_grade("1-1", "c1", cwd=home)
    assert lost.returncode == 1
    assert "2 of 4 checks ran." in lost.stdout


def test_stop_at_the_first_that_loses_points(type_grade: WarmGrade, home: Path) -> None:
    """-x runs nothing after it, in no later exercise either; the next run is as if nothing had been."""
    double(home).write_text(WRONG)
    (home / "exercises/01_basics/total/total.py").write_text(TOTAL)
    ran = type_grade("-x", cwd=home)
    assert ran.returncode == 1
    assert "1 of 4 checks ran." in ran.stdout
    assert "0 of 2 checks ran." in ran.stdout or "0 of 3 checks ran." in ran.stdout
    assert "BROKEN" not in ran.stdout
    double(home).write_text(RIGHT)
    assert type_grade("-x", cwd=home).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["double", "C9"], "double has no rule C9; its rules are C1, C2, C3"),
        (["C1"], "C1 is the name of a rule; say of which exercise:  grade EXERCISE C1"),
        (["show", "01"], "01 is a module; name one of its exercises: double, total"),
        (["show", "dubble"], "did you mean double?"),
        (["hint", "double", "--again"], "you have seen no hint of double yet; the first one:  grade hint double"),
        (["list", "--state", "won"], "'won' is not one of 'not-started', 'started', 'shown-pass', 'done', 'known'"),
        (["list", "--topic", "T9"], "this course has no topic 'T9'"),
        (
            ["reset", "total", "more"],
            "grade: got unexpected extra argument (more)\ngrade: to see what it takes:  grade reset --help\n",
        ),
        (["--fsh"], "grade: no such option '--fsh'"),
        (["list", "--state", "won"], "grade: invalid value for '--state': 'won'"),
        (["update"], "has a course of its own, and was not made by  grade start"),
    ],
)
def test_wrong_words_are_one_sentence(type_grade: WarmGrade, home: Path, arguments: list[str], told: str) -> None:
    """What was typed wrong is told with what to type, and exit status 2."""
    ran = type_grade(*arguments, cwd=home)
    assert ran.returncode == 2
    assert told in ran.stderr
    assert all(line.startswith("grade: ") for line in ran.stderr.splitlines())


def test_words_that_people_type(type_grade: WarmGrade, home: Path) -> None:
    """`help`, `version`, `edit`, `test` and `solution` do what is meant, and `submit` says what to do."""
    assert type_grade("help", cwd=home).stdout.startswith("Usage: ")
    assert "Pack a hand-in into one zip" in type_grade("help", "pack", cwd=home).stdout
    assert "version" in type_grade("version", cwd=home).stdout
    assert "first set EDITOR or VISUAL" in type_grade("edit", "double", cwd=home).stderr
    assert "once you have full marks" in type_grade("solution", "double", cwd=home).stderr
    assert "01-1 Double it" in type_grade("test", "double", cwd=home).stdout
    submit = type_grade("submit", cwd=home)
    assert (submit.returncode, "grade pack  writes the file that you hand in" in submit.stderr) == (2, True)


def test_like_starts_workers_as_the_report_did(
    type_grade: WarmGrade, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless another way is named: "it passes on my machine" is settled with the same way."""
    type_grade("double", "--json", "r.json", cwd=home)
    report = json.loads((home / "r.json").read_text())
    report["environment"]["start"] = "spawn"
    (home / "r.json").write_text(json.dumps(report))
    planned = mock.Mock(side_effect=CourseError("stop"))
    monkeypatch.setattr("grader.cli.grade._plan_and_submission", planned)
    for words in ([], ["--start", "fork"]):
        assert "stop" in type_grade("double", "--like", "r.json", *words, cwd=home).stderr
    assert [call.args[2].start for call in planned.call_args_list] == [Start.SPAWN, Start.FORK]


def test_rules_with_hidden_checks_alone_are_listed(type_grade: WarmGrade, home: Path) -> None:
    """Whoever runs such a rule reads why its messages say little."""
    double(home).write_text(WRONG)
    assert "C2 has only hidden checks" in type_grade("double", "C2", cwd=home).stdout
    assert "only hidden checks" not in type_grade("double", "C1", cwd=home).stdout


def test_hints_come_one_after_another(type_grade: WarmGrade, home: Path) -> None:
    """Each call shows the next; --again those that were seen, --all all; without a name it is the next exercise's."""
    outs = [type_grade("hint", *words, cwd=home).stdout for words in ([], ["1-1"], ["double"], ["double"])]
    assert [out.split("\n")[0] for out in outs[:3]] == [f"Hint {number} of 3 for double" for number in (1, 2, 3)]
    assert outs[3] == "You have seen all 3 hints. To read them again:  grade hint double --again\n"
    assert type_grade("hint", "double", "--again", cwd=home).stdout.count("Hint") == 3
    type_grade("hint", "total", cwd=home)
    assert type_grade("hint", "total", "--again", cwd=home).stdout.count("Hint") == 1
    assert type_grade("hint", "total", "--all", cwd=home).stdout.count("Hint") == 3


def test_a_folder_that_cannot_be_written_to(type_grade: WarmGrade, home: Path) -> None:
    """Grading, hints and lists work; that progress is not kept is one line."""
    (home / ".grade").write_text("in the way of a folder, as who runs the tests may write everywhere")
    double(home).write_text(RIGHT)
    ran = type_grade("double", cwd=home)
    assert ran.returncode == 0
    assert "Next: 01-2 Sum without a loop:  grade next\nyour progress is not saved: File exists" in ran.stdout
    assert "reference" not in ran.stdout
    hint = type_grade("hint", "double", cwd=home).stdout
    assert "Hint 1 of 3" in hint
    assert "grade hint --all shows all of them" in hint.replace("\n", " ")
    assert "1 of 2 done" not in type_grade("list", cwd=home).stdout


def test_of_another_folder_nothing_is_kept(type_grade: WarmGrade, home: Path, tmp_path: Path) -> None:
    """Who grades somebody's files does not move on in the course."""
    theirs = written(tmp_path / "theirs", {"double.py": WRONG})
    assert type_grade("double", "--submission", str(theirs), cwd=home).returncode == 1
    assert not (home / ".grade").exists()


def test_quiet_prints_the_table_alone(type_grade: WarmGrade, home: Path) -> None:
    """-q leaves out what is told of each exercise, and advice; next -q is a path for other commands."""
    double(home).write_text(WRONG)
    lines = type_grade("double", "-q", cwd=home).stdout.split("\n")
    assert (lines[0], len(lines)) == ("-" * 80, 6)
    assert type_grade("next", "-q", cwd=home / "exercises").stdout == "01_basics/double/double.py\n"


def test_quiet_batch(type_grade: WarmGrade, home: Path) -> None:
    """-q leaves what went well untold, and keeps what matters: where the reports are."""
    written(home, {"class/ada/double.py": RIGHT})
    ran = type_grade("batch", "class", "--out", "out", "--handin", "week1", "--confinement", "none", "-q", cwd=home)
    assert (ran.returncode, ran.stdout) == (0, "Reports and gradebook.csv are in out\n"), ran.stderr
    assert (home / "out/gradebook.csv").is_file()


def test_light_commands_import_neither_torch_nor_pytest(home: Path) -> None:
    """What grades nothing starts at once."""
    code = (
        "import sys\nfrom grader.cli import main\n"
        "for words in ('list', 'next', 'show double', 'hint double', '--help'):\n"
        "    main(words.split(), standalone_mode=False)\n"
        "    heavy = ('torch', 'pytest', 'numpy', 'rich.text')\n"
        "    print([name for name in heavy if name in sys.modules], file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=home, capture_output=True, text=True, check=True)
    assert ran.stderr == "[]\n" * 5


def test_help_imports_nothing_that_grades() -> None:
    """`grade --help` is answered without the course's files, their types, or any command but the one without a name."""
    code = (
        "import sys\nfrom grader.cli import main\nmain(['--help'], standalone_mode=False)\n"
        "own = sorted(name for name in sys.modules if name.startswith('grader'))\n"
        "others = [name for name in ('pydantic', 'yaml', 'torch', 'numpy', 'ssl', 'rich') if name in sys.modules]\n"
        "print(*own, *others, file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stderr.split() == ["grader", "grader.cli", "grader.cli.options", "grader.cli.run"]


def test_help_has_the_sentence_of_each_command() -> None:
    """The list of commands says of each what its own help says first."""
    for group in GROUPS.values():
        for name, (module, sentence) in group.items():
            command = main.get_command(click.Context(main), name)
            assert command is not None, (name, module)
            assert command.get_short_help_str(10_000) == sentence


def test_completion(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shell is offered what can stand there; outside of a course nobody reads an error in the middle of a line."""
    monkeypatch.chdir(home)
    for words, offered, not_offered in (
        ("grade d", {"double", "doctor"}, {"total"}),
        ("grade double ", {"C1", "C2", "C3", "total"}, {"list"}),
        ("grade show ", {"double", "01-2", "01_basics"}, {"C1", "list"}),
        ("grade verify double --answer ", {"triples", "adds", "zeros", "reference"}, {"loop", "double"}),
        ("grade list --state ", {"not-started", "known"}, {"double"}),
    ):
        values = {line.partition(",")[2] for line in completed(words).stdout.split("\n")}
        assert (offered - values, not_offered & values) == (set(), set())
    monkeypatch.chdir(tmp_path)
    assert completed("grade show ").output.strip() == ""


def completed(words: str) -> Result:
    env = {"_GRADE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    return CliRunner().invoke(main, prog_name="grade", env=env)


BOTH = '''

@check("C2")
def check_both(student):
    """Doubles in two ways"""
    x = torch.ones(2)
    assert_values(student.double_(x.clone()), 2 * x)
    assert_values(student.double(x), 2 * x)
'''
SEVENS = "def double(x):\n    return 2 * x\n\n\ndef double_(x):\n    return x.mul_(7)\n"


def test_a_known_mistake_is_named_although_another_function_crashes(type_grade: WarmGrade, home: Path) -> None:
    """Also where a check calls both functions. It stands below the check that it explains."""
    checks = home / "solutions/01_basics/double/check_double.py"
    checks.write_text(checks.read_text() + BOTH)
    wrong = checks.parent / "wrong/sevens.py"
    wrong.write_text(f'"""You take seven times.\n\ncaught by: in_place\nbreaks: C2\n"""\n\n{SEVENS}')
    double(home).write_text(SEVENS.replace("return 2 * x", "return x.twice()"))
    told = type_grade("double", cwd=home).stdout
    assert "your `double` raised AttributeError" in told
    lines = told.splitlines()
    place = lines.index("          This looks like: You take seven times.")
    (*_, failed) = (line.split()[:2] for line in lines[:place] if line.split()[:1] in (["FAIL"], ["CRASH"]))
    assert failed == ["FAIL", "C3"]
    assert told.count("This looks like") == 1
