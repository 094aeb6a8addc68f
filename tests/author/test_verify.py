"""`grade verify` turns red, with the right sentence, for each planted fault, and stays green for a sound course."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from support import COURSES, RIGHT, Noted, WarmGrade, verified

from grader.author.cases import UNUSUAL, unusual_cases
from grader.author.judge import MOST_MESSAGES
from grader.author.text import leak_sentences, text_problems
from grader.course.answers import write_digest
from grader.course.load import load_course
from grader.grading.runtime import Runtime
from grader.model import Check, Course

SHOWN = "exercises/01_basics/double"
STAFF = "solutions/01_basics/double"
CHECKS, TASK, SETTINGS = f"{STAFF}/check_double.py", f"{SHOWN}/double.py", f"{SHOWN}/exercise.yaml"
SHOWN_CHECKS, WRONG, TRIPLES = (
    f"{SHOWN}/check_double.py",
    f"{STAFF}/wrong/changes_input.py",
    f"{STAFF}/wrong/triples.py",
)

Plant = Callable[[Path, str], object]
"""Plants a fault in the exercise of that name, in the course in that folder."""


def within(exercise: str, text: str) -> str:
    """A path or a sentence about the exercise double, as of another one that was copied from it."""
    return text.replace("basics/double", f"basics/{exercise}").replace("double.py", f"{exercise}.py")


def change(path: str, old: str, new: str) -> Plant:
    """A fault: a text in a file replaced."""

    def plant(root: Path, exercise: str) -> None:
        file = root / within(exercise, path)
        assert old in file.read_text()
        file.write_text(file.read_text().replace(old, new))

    return plant


def add(path: str, text: str) -> Plant:
    """A fault: a file that should not be there, or with other content."""

    def plant(root: Path, exercise: str) -> None:
        file = root / within(exercise, path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    return plant


def remove(path: str) -> Plant:
    """A fault: a file that is missing."""
    return lambda root, exercise: (root / within(exercise, path)).unlink()


def both(*plants: Plant) -> Plant:
    def plant(root: Path, exercise: str) -> None:
        for one in plants:
            one(root, exercise)

    return plant


ACCEPTS_ALL = """
from grader.check import check


@check("C1", try_this="double(torch.ones(1))")
def check_random(student):
    \"\"\"Accepts everything\"\"\"


@check("C2", try_this="double(torch.ones(1))")
def check_dtype(student):
    \"\"\"Accepts everything\"\"\"
"""

FAULTS: dict[str, dict[str, Plant]] = {
    "text": {
        f"{CHECKS}: check_dtype: the contract line C7 is not in the starter's docstring; known are": change(
            CHECKS, '@check("C2"', '@check("C7"'
        ),
        f"{CHECKS}: check_dtype: a hidden check must give an example": change(
            CHECKS, ', try_this="double(torch.tensor([1]))"', ""
        ),
        f"{SHOWN_CHECKS}: check_small uses the reference, which students do not have": change(
            SHOWN_CHECKS, "def check_small(student):", "def check_small(student, reference):"
        ),
        f"{SETTINGS}: starter: the starter was changed; write  starter: ": change(
            TASK,
            "raise NotImplementedError  # TODO",
            "return x.mul_(2) if x.dim() == 0 else 2 * x # TODO",
        ),
        f"{TASK}: the docstring has 65 lines; shorten it to 50": change(
            TASK, '"""Double it\n', '"""Double it\n' + "and so on\n" * 60
        ),
        f"{SETTINGS}: hints: hint 1 is not written": change(SETTINGS, "Look at the operator.", "TODO"),
        f"{SETTINGS}: topics: T99 is not in exercises/topics.yaml": change(
            SETTINGS, "topics: [T1]", "topics: [T1, T99]"
        ),
        f"{SHOWN}/notes.txt: this file has no place in a course; remove it or fix its name": add(
            f"{SHOWN}/notes.txt", "x"
        ),
        "exercises/01_basics/lost/lost.py: this file has no place in a course": add(
            "exercises/01_basics/lost/lost.py", "x = 1\n"
        ),
        f"{STAFF}: the reference is missing; write double.py": remove(f"{STAFF}/double.py"),
    },
    "more_text": {
        f"{CHECKS}: check_dtype: a hidden check must name the contract line it examines": change(
            CHECKS, '@check("C2", ', "@check("
        ),
        f"{CHECKS}: check_dtype: it has no docstring": change(CHECKS, '    """Keeps integers integers"""\n', ""),
        f"{TASK}: the code has 146 lines; shorten it to 120": change(
            TASK, "def double_(x):", "y = None\n" + "x = 1\n" * 140 + "def double_(x):"
        ),
        f"{TASK}: nothing is marked TODO": both(
            change(TASK, "  # TODO", ""), change(TASK, '"""Double it\n', '"""Double it\n\nIt is marked TODO below.\n')
        ),
        f"{SETTINGS}: par: the shortest right answer here has ": change(
            SETTINGS, "points: 10\n", "points: 10\npar: 9\n"
        ),
        f"{STAFF}/wrong.yaml: adds-one: this cannot be the name of an answer, so it is never run": add(
            f"{STAFF}/wrong.yaml", '"adds-one":\n  says: You add one.\n  caught by: random\n  code: "y = 1"\n'
        ),
        f"{SETTINGS}: values: there is no check or rule nothing; name a check": change(
            SETTINGS, "points: 10\n", "points: 10\nvalues: [C1, nothing]\n"
        ),
        f"{SETTINGS}: caps: there is no check or rule C9; name a check without check_, or a rule": change(
            SETTINGS, "points: 10\n", "points: 10\ncaps: {C9: 3}\n"
        ),
    },
    "answers": {
        f"{STAFF}/right/adds.py: this right answer does not pass check_dtype (expected the result": change(
            f"{STAFF}/right/adds.py", "return x + x", "return (x + x).double()"
        ),
        f"{WRONG}: check_dtype does not catch this wrong answer (random did)": change(
            WRONG, "caught by: random", "caught by: dtype"
        ),
        f"{STAFF}/wrong.yaml: there are 1 wrong answers; write at least 2": remove(TRIPLES),
        (
            f"{SETTINGS}: values: 1.7 points are for nothing: every function gives a zero of the argument, or a view "
            "of the argument, set to 0 (dtype); name the checks or rules that show a right value"
        ): change(SETTINGS, "points: 10\n", "points: 10\nvalues: [dtype]\n"),
    },
    "names": {
        f"{WRONG}: its docstring must end with  caught by: <check>": change(WRONG, "caught by: random", ""),
        f"{STAFF}/double.py: the reference does not pass check_small (the result has the wrong values: 3 of 3": change(
            f"{STAFF}/double.py", "return 2 * x", "return 3 * x"
        ),
    },
    "unknown_names": {
        f"{WRONG}: caught by: there is no check 'randon'; the checks are small": change(
            WRONG, "caught by: random", "caught by: randon"
        ),
        "check_dtype is at fault itself (NameError: name 'undefined_name' is not defined, line ": change(
            CHECKS, "assert_dtype(student", "undefined_name(student"
        ),
    },
    "rules": {
        f"{TRIPLES}: it breaks C1, and loses 1.7 of 10 points on rules that it keeps (C3 1.7)": change(
            TRIPLES, "breaks: C1, C3\n", ""
        ),
        f"{STAFF}/double.py: also right: nothing is not one of the_argument, right_and_overwrites": change(
            f"{STAFF}/double.py", "def double(x):", '"""Once.\n\nalso right: nothing\n"""\n\ndef double(x):'
        ),
    },
    "more_rules": {
        f"{TRIPLES}: breaks: it loses nothing on C2; remove that": change(
            TRIPLES, "breaks: C1, C3\n", "breaks: C3, C2\n"
        ),
        f"{CHECKS}: check_random: students cannot read its message (what adds up to ": change(
            CHECKS,
            "    assert_values(y, reference.double(x))",
            '    assert_values(y, reference.double(x), f"what adds up to {float(y.sum())}")',
        ),
    },
    "checks": {
        f"{WRONG}: check_random does not catch this wrong answer (no check did)": add(CHECKS, ACCEPTS_ALL),
        f"{TASK}: the starter passes every check; leave something for the student to do": add(TASK, RIGHT),
    },
    "imports": {
        f"{CHECKS}: its checks cannot be collected; fix them: line 1: import torchh (Module": change(
            CHECKS, "import torch", "import torchh"
        ),
    },
    "old_words": {
        "`is_tensor` is named `assert_tensor` now": change(
            CHECKS, "from grader.check import ", "from grader.check import is_tensor, "
        ),
    },
    "more_names": {
        f"{STAFF}/conftest.py: no check reads this file; move its fixtures into the check file, and remove it": add(
            f"{STAFF}/conftest.py", "x = 1\n"
        ),
        f"{TASK}: no check examines the rule C9; write a check, or remove the rule": change(
            TASK, '"""Double it\n', '"""Double it\n\nC9  Nothing is printed.\n'
        ),
        f"{SHOWN_CHECKS}: it names solutions/, which students do not have; remove it": change(
            SHOWN_CHECKS, "import torch\n", "import torch\n\nWHERE = 'solutions/01_basics/x.txt'\n"
        ),
        f"{CHECKS}: check_small: a shown check has the same name; give each check its own name": change(
            CHECKS, "def check_dtype", "def check_small"
        ),
    },
    "source": {
        "`capsys` reaches the check process, not student code; call `capture(student.f, ...)`": change(
            CHECKS, "def check_dtype(student):\n", "def check_dtype(student, capsys):\n"
        ),
        f"{SHOWN_CHECKS}:7: `test_small` is never run; make it a check": change(
            SHOWN_CHECKS, "def check_small(", "def test_small("
        ),
    },
}
"""Faults that can be planted in one copy of the exercise double, by the name of the copy."""


def planted(root: Path, copies: Sequence[str]) -> Course:
    """The pretend course with copies of the exercise double in place of its own exercises, each with its faults."""
    shutil.copytree(COURSES / "tiny", root, ignore=shutil.ignore_patterns("double", "total"))
    for number, name in enumerate(copies, 1):
        for folder in ("exercises", "solutions"):
            copied = root / folder / "01_basics" / name
            shutil.copytree(COURSES / "tiny" / folder / "01_basics" / "double", copied)
            for file in (copied / "double.py", copied / "check_double.py"):
                file.rename(file.with_name(file.name.replace("double", name)))
        change(f"{SHOWN}/exercise.yaml", "01-1", f"01-{number}")(root, name)
        for plant in FAULTS[name].values():
            plant(root, name)
    yaml = root / "course.yaml"
    text = yaml.read_text().replace("[double, total]", f"[{', '.join(copies)}]")
    yaml.write_text(text.replace("[double]", f"[{copies[0]}]"))
    return load_course(root)


def test_planted_faults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each fault is told as a sentence with its place and its remedy."""
    # Unusual answers have tests of their own below, and would be tried on each copy; one of these names some.
    monkeypatch.setattr(
        "grader.author.cases.unusual_cases",
        lambda exercise, problems: unusual_cases(exercise, problems) if exercise.id == "rules" else (),
    )
    course = planted(tmp_path / "course", list(FAULTS))
    problems = [problem for proof in verified(course, course.exercises) for problem in proof.problems]
    told = [within(name, text) for name, faults in FAULTS.items() for text in faults]
    assert [text for text in told if not any(text in problem for problem in problems)] == [], problems


def test_code_without_effect_is_reported_before_anything_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where lines of check files have no effect, no process is started, and a line says why nothing was run."""
    monkeypatch.setattr(Runtime, "processes", None)
    course = planted(tmp_path / "course", ["source"])
    (proof,) = verified(course, course.exercises)
    assert [problem.split(":", 1)[0] for problem in proof.problems] == [
        f"{folder}/01_basics/source/check_source.py" for folder in ("exercises", "solutions")
    ]
    assert proof.notes == ["source: nothing of it was run; first fix the lines of its check files that are listed"]


def test_solution_on_a_page_is_reported(home: Path) -> None:
    """What `grade release` would refuse is said while an author can still change it."""
    assert list(leak_sentences(load_course(home))) == []
    (home / "exercises/01_basics/README.md").write_text(f"# Basics\n\n{(home / STAFF / 'double.py').read_text()}")
    (home / TASK).write_text((home / TASK).read_text() + "\nx = 1\n")  # its digest is stale, which hides no leak
    course = load_course(home)
    (proof,) = verified(course, course.exercises[:1])
    assert any("README.md:8: a function's body of a solution stands here" in problem for problem in proof.problems)


def test_files_are_read_as_python_reads_them(home: Path, few_unusual: None) -> None:
    """A word of prose is no folder, a name in a comment is no import, and a form feed ends no line."""
    shown = home / SHOWN_CHECKS
    shown.write_text(shown.read_text().replace("import torch\n", '"""Both solutions agree."""\n\nimport torch\n', 1))
    right = home / STAFF / "right/adds.py"
    right.write_text(f"# nothing shared\nS = '\x0c'\n{right.read_text()}")
    (home / "solutions/shared").mkdir()
    (home / "solutions/shared/tools.py").write_text("this is not Python\n")
    course = load_course(home)
    (proof,) = verified(course, course.exercises[:1])
    assert proof.problems == []


def test_digests_keep_line_ends(home: Path) -> None:
    """Bringing a digest up to date changes its own line and no other."""
    path, exercise = home / SETTINGS, load_course(home).exercises[0]
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    before = path.read_bytes()
    assert not write_digest(exercise)
    assert path.read_bytes() == before


def test_answers_that_behave_alike_are_noted(home: Path, few_unusual: None) -> None:
    """A student with one of two mistakes would read the sentences of both."""
    twin = (home / WRONG).read_text().replace('"""', '"""Again: ', 1)
    (home / WRONG).with_name("twin.py").write_text(twin)
    course = load_course(home)
    (proof,) = verified(course, course.exercises[:1])
    (note,) = (note for note in proof.notes if "behave alike" in note)
    assert "the wrong answers changes_input.py, twin.py behave alike with every seed" in note
    assert "reads both sentences; merge them, or add a check that distinguishes them" in note


def test_new_course_lacks_only_what_its_author_must_write(
    type_grade: WarmGrade, few_unusual: None, tmp_path: Path
) -> None:
    """A scaffolded exercise runs as it should; verify asks for the text, the hints, and nothing else."""
    assert type_grade("new", "--course", "mine", cwd=tmp_path).returncode == 0
    home = tmp_path / "mine"
    ran = type_grade("new", "02_memory/predict_offsets", cwd=home)
    assert ran.returncode == 0, ran.stderr
    assert "wrote exercises/02_memory/predict_offsets/predict_offsets.py" in ran.stdout
    course = load_course(home)
    assert course.exercises[0].number == "02-1"
    (proof,) = verified(course, course.exercises)
    assert [problem.split(": ", 1)[1] for problem in proof.problems] == [
        "the docstring is not written; state the task and its rules",
        *(f"hints: hint {n} is not written; write where to look, which rule, nearly the code" for n in (1, 2, 3)),
    ]
    assert {kind: good == total for kind, (good, total) in proof.counts.items()} == dict.fromkeys(proof.counts, True)


def test_new_refuses(type_grade: WarmGrade, tmp_path: Path) -> None:
    """A course is not written over, a name must be usable, and an id is unique."""
    type_grade("new", "--course", ".", cwd=tmp_path)
    type_grade("new", "01_a/one", cwd=tmp_path)
    for typed, why in (
        (("--course", "."), "a course is not written over"),
        (("../evil",), "is not MODULE/EXERCISE in lower case"),
        (("02_b/one",), "the exercise one exists"),
    ):
        ran = type_grade("new", *typed, cwd=tmp_path)
        assert (ran.returncode, why in ran.stderr) == (2, True)


def test_a_check_file_without_checks_is_named(home: Path) -> None:
    """As one that is missing is; a file that is not Python has a problem of its own."""
    said = f"{SHOWN}/check_double.py: it has no shown check; write at least one function check_... with @check"
    for text, is_named in (('"""Shown checks."""\n', True), ("def check_(:\n", False)):
        (home / SHOWN / "check_double.py").write_text(text)
        exercise = load_course(home).exercises[0]
        hidden = Check("random", "double", "Random", contract="C1", shown=False)
        assert (said in text_problems(exercise, [hidden], ["T1"])) == is_named


def test_unusual_answers_need_somebody_who_looks(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no check looks at what comes back, every unusual answer gets full marks, and each is told."""
    (home / "solutions/01_basics/double/check_double.py").write_text(ACCEPTS_ALL)
    (home / "exercises/01_basics/double/check_double.py").write_text(ACCEPTS_ALL.replace("random", "small"))
    course, some = load_course(home), ("None", "two_percent_more")
    cases = [case for case in unusual_cases(course.exercises[0], []) if case.unusual_result in some]
    monkeypatch.setattr("grader.author.cases.unusual_cases", lambda *given: cases)
    (proof,) = verified(course, course.exercises[:1])
    told = [problem for problem in proof.problems if "this unusual answer gets full marks" in problem]
    assert [any(f"double gives {gives}" in problem for problem in told) for gives in some] == [True, True]


BROADCASTS = """
import torch

from grader.check import check


@check("C1", try_this="double(torch.ones(1))")
def check_random(student, reference, rng):
    \"\"\"Doubles matrices\"\"\"
    x = rng.normal(3, 3)
    x = x + x.T
    assert torch.allclose(torch.as_tensor(student.double(x), dtype=torch.float32), reference.double(x))


@check("C2", share=0, try_this="double(torch.ones(1))")
def check_dtype(student):
    \"\"\"Keeps integers integers\"\"\"
    assert torch.as_tensor(student.double(torch.tensor([[1]]))).dtype == torch.int64
"""


def test_right_values_in_a_wrong_form_need_somebody_who_looks(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `torch.allclose` lets pass is reported with the rule that it breaks; what may be right is asked about."""
    (home / CHECKS).write_text(BROADCASTS)
    (home / SHOWN_CHECKS).unlink()
    course = load_course(home)
    told = ("right_with_one_more_dim", "right_and_expanded")
    asked = ("right_as_a_list", "right_as_an_array", "right_and_transposed")
    cases = [
        case
        for case in unusual_cases(course.exercises[0], [])
        if case.function == "double" and case.unusual_result in (*told, *asked)
    ]
    monkeypatch.setattr("grader.author.cases.unusual_cases", lambda *given: cases)
    (proof,) = verified(course, course.exercises[:1])
    for gives in told:
        sentence = f"{STAFF}: double gives {gives}: this unusual answer gets full marks, and breaks C1;"
        assert any(sentence in problem for problem in proof.problems), proof.problems
    (note,) = (note for note in proof.notes if "full marks" in note)
    for gives in asked:
        assert f"double may give {gives}: is there a rule on " in note


ARRAYS = """
import numpy as np

from grader.check import assert_values, check


@check("C1", try_this="double(np.ones(1))")
def check_random(student, rng):
    \"\"\"Doubles arrays\"\"\"
    x = rng.normal(3).double().numpy()
    assert_values(student.double(x), 2 * x)


@check("C2", share=0, try_this="double(np.ones(1))")
def check_dtype(student):
    \"\"\"Keeps integers integers\"\"\"
"""


def test_arrays_of_numpy_have_no_gradients(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The author is not asked whether an array may be detached, nor whether one in float64 may be in float64."""
    (home / CHECKS).write_text(ARRAYS)
    (home / SHOWN_CHECKS).unlink()
    course, asked = load_course(home), ("detached", "right_in_float64", "right_and_overwrites")
    cases = [case for case in unusual_cases(course.exercises[0], []) if case.unusual_result in asked]
    cases = [case for case in cases if case.function == "double"]
    monkeypatch.setattr("grader.author.cases.unusual_cases", lambda *given: cases)
    (proof,) = verified(course, course.exercises[:1])
    (note,) = (note for note in proof.notes if "full marks" in note)
    assert "double may give right_and_overwrites" in note
    assert "detached" not in note and "float64" not in note


def test_a_wrong_answer_that_loses_nothing_is_named(home: Path, few_unusual: None) -> None:
    """The check that catches it may be worth nothing."""
    (home / CHECKS).write_text((home / CHECKS).read_text().replace('@check("C2"', '@check("C2", share=0'))
    floats = 'caught by: dtype\n"""\n\n\ndef double(x):\n    return 2.0 * x\n\n\n'
    in_place = "def double_(x):\n    return x.mul_(2)\n"
    (home / WRONG).with_name("floats.py").write_text(f'"""You multiply by a float.\n\n{floats}{in_place}')
    course = load_course(home)
    (proof,) = verified(course, course.exercises[:1])
    (problem,) = (problem for problem in proof.problems if "floats.py" in problem)
    assert "it breaks C2 and gets full marks, as check_dtype is worth no points; give that check a share" in problem


def test_shares_of_a_parametrised_check_are_explained(home: Path, few_unusual: None) -> None:
    """Its share counts for each case."""
    cases = '@pytest.mark.parametrize("number", [1, 2, 3])\ndef check_random(student, reference, rng, number):'
    text = (home / CHECKS).read_text().replace("def check_random(student, reference, rng):", cases)
    (home / CHECKS).write_text(f"import pytest\n{text}")
    course = load_course(home)
    (proof,) = verified(course, course.exercises[:1])
    assert (
        f"{STAFF}: check_random: its share of 2 counts for each of its 3 cases, so that it has 6 of 10 shares and 6 of "
        "10 points; if that is too much, give the other checks larger shares"
    ) in proof.notes


def test_no_unusual_answer_breaks_a_sound_course() -> None:
    """Each is tried, and none gets through; who waits is told how many are done."""
    course, told = load_course(COURSES / "tiny"), Noted()
    (proof,) = verified(course, course.exercises[:1], progress=told)
    good, total = proof.counts["unusual"]
    assert good == total == 2 * len(UNUSUAL)
    quiet = max(of for _, of in told.advances)
    assert (quiet, quiet) in told.advances
    assert quiet > total + proof.counts["constant"][1]
    # It has no rule on gradients, nor one on arguments for what works in place.
    (note,) = proof.notes
    assert "double may give detached: is there a rule on gradients?" in note
    assert all(0 < len(messages) <= MOST_MESSAGES for messages in proof.messages.values())
    assert set(proof.messages) == {"random", "dtype"}


def test_a_course_of_all_parts_is_green(few_unusual: None) -> None:
    """Rules on names, data, shared code and files that are written: known answers are judged as they should be."""
    course = load_course(COURSES / "parts")
    for proof in verified(course, course.exercises):
        assert proof.problems == [], proof.exercise.id
