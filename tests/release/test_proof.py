"""The search of a copy: a leak planted in each place where one can be is found, and told with its line."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support import COURSES

from grader.course.load import load_course
from grader.grading.behaviour import SealedFacts, seal, sealed_file
from grader.release.make import Files, restrict_to_handin
from grader.release.proof import LeakError, Secret, prove_no_secret, prove_no_secret_in_sentences, secrets_of

FOLDER = "exercises/01_basics/double"
SOLUTION = "    return x.mul(2).to(x.dtype)\n"
CHECK = "    assert_values(student.double(torch.tensor([[4.0, 7.5], [-3.25, 9]])), torch.tensor(8.0), 'of two')\n"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pretend course, with longer solutions, a hidden check with an input of its own, and canaries."""
    root = shutil.copytree(COURSES / "tiny", tmp_path_factory.mktemp("release") / "course")
    staff = root / "solutions/01_basics/double"
    (staff / "double.py").write_text(f"def double(x):\n    # the product keeps a narrow dtype narrow\n{SOLUTION}")
    hidden = staff / "check_double.py"
    hidden.write_text(hidden.read_text() + f'\n\n@check("C1")\ndef check_two(student):\n    """Doubles two"""\n{CHECK}')
    (staff / "notes.md").write_text("Canary: 7d1f0c52-aa\nAsk Jo before the points of this exercise are changed.\n")
    (staff / "wrong/doubles_twice.py").write_text('"""You doubled what was doubled already.\n\ncaught by: two\n"""\n')
    return root


@pytest.fixture(scope="module")
def secrets(root: Path) -> tuple[Secret, ...]:
    return tuple(secrets_of(load_course(root)))


@pytest.fixture
def copy(root: Path) -> Files:
    """What is shown of that course."""
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in (root / "exercises").rglob("*.*")}


def found(copy: Files, secrets: tuple[Secret, ...]) -> str:
    with pytest.raises(LeakError) as leak:
        prove_no_secret(copy, secrets)
    return str(leak.value)


LEAKS = {
    "a page quotes a solution": ("exercises/01_basics/README.md", f"# Basics\n\n```python\n{SOLUTION}```\n", 4),
    "in a quotation": ("exercises/01_basics/README.md", "# Basics\n\n> return x.mul(2)\n>     .to(x.dtype)\n", 3),
    "a comment of a shown check": (f"{FOLDER}/check_double.py", f"import torch\n#{SOLUTION}", 2),
    "a comment of the starter": (f"{FOLDER}/double.py", f'"""Double it"""\n\ndef double(x):\n    # {SOLUTION}', 4),
    "the task": (f"{FOLDER}/double.py", f'"""Double it\n\n{SOLUTION}"""\n', 3),
    "the starter's code": (f"{FOLDER}/double.py", f"def double(x):\n{SOLUTION}", 2),
    "a hint": (f"{FOLDER}/exercise.yaml", f"hints:\n- |\n  Write\n{SOLUTION}", 4),
    "a hint in quotes": (f"{FOLDER}/exercise.yaml", 'hints:\n- "Write \\x72eturn x.mul(2)\\\n  \\n.to(x.dtype)"\n', 2),
    "a hidden check as a shown one": (f"{FOLDER}/check_double.py", f"import torch\n\ndef check_it(a):\n{CHECK}", 4),
    "a hidden input in a page": ("exercises/01_basics/README.md", f"`{CHECK.strip()[:70]}`\n", 1),
    "a hidden input alone": ("exercises/01_basics/README.md", "Try\n`[[4.0, 7.5],\n[-3.25, 9]]`\n", 2),
    "a hidden input in a shown check": (f"{FOLDER}/check_double.py", "X = [[4.0, 7.5], [-3.25, 9]]\n", 1),
    "a comment of staff's": ("course.yaml", "title: Tiny\n# the product keeps a narrow dtype narrow\n", 2),
    "the sentence of a wrong answer": ("AGENTS.md", "Some read:\nYou doubled what was\ndoubled already.\n", 2),
    "staff's notes": ("README.md", "Ask Jo before the points of\nthis exercise are changed.\n", 1),
    "a canary": ("exercises/topics.yaml", "T1: Basics\nT2: 7d1f0c52-aa\n", 2),
}


@pytest.mark.parametrize("place", LEAKS)
def test_leak_in_a_text_is_found(copy: Files, secrets: tuple[Secret, ...], place: str) -> None:
    """Wherever words of staff's stand, the file and the line are told."""
    path, text, line = LEAKS[place]
    copy[path] = text.encode()
    told = found(copy, secrets)
    assert (told.startswith(f"{path}:{line}: "), told.count("\n")) == (True, 0), told


def test_canary_in_bytes_and_in_a_name(copy: Files, secrets: tuple[Secret, ...]) -> None:
    """A canary is found in a file that is no text, and in the name of one."""
    copy["exercises/01_basics/picture.png"] = b"\x89PNG\xff\n\x007d1f0c52-aa\x00"
    assert "picture.png:2: has the canary of solutions/01_basics/double/notes.md:1" in found(copy, secrets)
    del copy["exercises/01_basics/picture.png"]
    copy["exercises/7d1f0c52-aa.txt"] = b""
    assert "7d1f0c52-aa.txt: its name has the canary" in found(copy, secrets)


def test_mistakes_are_sealed_and_nothing_else(copy: Files, secrets: tuple[Secret, ...]) -> None:
    """A file of mistakes in which something can be read is a leak, and so is a sentence with code of staff's in it."""
    path = f"{FOLDER}/mistakes.json"
    copy[path] = sealed_file({"0" * 32: seal("double", [], {"You doubled what was doubled already.": SealedFacts()})})
    prove_no_secret(copy, secrets)
    copy[path] = copy[path].replace(b'"version"', b'"note": "ask Jo", "version"')
    assert found(copy, secrets) == f"{path}: this file must have sealed sentences and nothing else; make the copy again"
    prove_no_secret_in_sentences(path, ["You doubled what was doubled already."], secrets)
    with pytest.raises(LeakError, match=r"mistakes.json:1: a .* of a solution stands here"):
        prove_no_secret_in_sentences(path, ["Write return x.mul(2).to(x.dtype) here."], secrets)


def test_what_the_starter_had_is_not_a_leak(root: Path, tmp_path: Path) -> None:
    """A line of the reference that stands in the starter's code is given; in a page, too. A comment gives nothing."""
    copied = shutil.copytree(root, tmp_path / "course")
    starter = copied / FOLDER / "double.py"
    given = f'"""Double it"""\n\n\ndef double(x):\n{SOLUTION}'
    for text, is_leak in ((given, False), (given.replace("    return", "    # return"), True)):
        starter.write_text(text)
        secrets = tuple(secrets_of(load_course(copied)))
        files = {f"{FOLDER}/double.py": text.encode(), "exercises/01_basics/README.md": SOLUTION.encode()}
        if is_leak:
            assert found(files, secrets).count("\n") == 1
        else:
            prove_no_secret(files, secrets)


def test_a_line_of_dashes_is_not_a_leak(copy: Files, root: Path) -> None:
    """A comment without a word, as it divides a file into sections, may stand in starter and reference."""
    dashes = f"\n# {'-' * 60}\n"
    reference = root / "solutions/01_basics/double/double.py"
    before = reference.read_text()
    reference.write_text(before + dashes)
    secrets = tuple(secrets_of(load_course(root)))
    reference.write_text(before)
    copy[f"{FOLDER}/double.py"] += dashes.encode()
    prove_no_secret(copy, secrets)


def test_files_of_other_exercises_are_searched_for(root: Path, secrets: tuple[Secret, ...]) -> None:
    """A solution of an exercise that is not in the copy may not be in it either."""
    course = load_course(root)
    assert [item.id for item in restrict_to_handin(course, course.handins[0]).exercises] == ["double"]
    assert {secret.exercise.id for secret in secrets if secret.exercise} == {"double", "total"}


def test_an_example_of_another_exercise_is_not_a_leak(copy: Files, root: Path) -> None:
    """A hidden input is one only beside its own exercise: usual numbers also stand in the tasks of others."""
    numbers = "[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]"
    hidden = root / "solutions/01_basics/double/check_double.py"
    before = hidden.read_text()
    hidden.write_text(before.replace("[[4.0, 7.5], [-3.25, 9]]", numbers))
    secrets = tuple(secrets_of(load_course(root)))
    hidden.write_text(before)
    copy["exercises/01_basics/total/total.py"] += f"\n# total(torch.tensor({numbers}))\n".encode()
    prove_no_secret(copy, secrets)
    copy[f"{FOLDER}/double.py"] += f"\n# double(torch.tensor({numbers}))\n".encode()
    assert "an input of a hidden check stands here" in found(copy, secrets)
