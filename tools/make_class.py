"""A class that nobody handed in: submissions of a course's exercises, laid out as a platform gives them.

    python tools/make_class.py DEST --shape canvas [--students N] [--exercise EX]... [--seed N]

Right answers, known wrong ones, small faults planted in references (tools/mutants.py), files that are broken in
the ways that files are, and hostile ones: the attacks of tests/attacks, each before a right answer. The same seed makes
the same class. DEST gets the class and `manifest.json`, which says what is expected of each exercise of each one:

    full      all points that are decided        loses    fewer than all
    zero      none                               any      whatever it is, by a fault of ours nothing
    blank     handed in as it was given out      missing  not handed in
"""

from __future__ import annotations

import ast
import io
import json
import random
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import click
import yaml
from mutants import judged, mutants_of

from grader.course.answers import read_answer
from grader.course.layout import find_course
from grader.course.load import find_exercises, load_course
from grader.model import Exercise

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from attacking.corpus import Attack, read_corpus

FIRST = ("Ada", "Alan", "Émilie", "Grace", "José", "Mei", "Olga", "Søren", "Yi", "Zoë")
LAST = ("Ångström", "de la Cruz", "Hopper", "Li", "Lovelace", "Nguyen", "O'Brien", "Turing", "Weiß", "Yilmaz")
DRAWN = {"diligent": 40, "learning": 36, "broken": 14, "hostile": 10}
"""How many of a hundred students are of each kind."""
PARTS = {"right": 45, "wrong": 25, "mutant": 15, "blank": 8, "missing": 7}
"""What somebody who is still learning hands in of an exercise."""
ODD = ("None", "'text'", "[]", "object()", "float('nan')", "__import__('torch').zeros(7, 1, 7)")


@dataclass(frozen=True)
class Answer:
    """What is handed in of one exercise: of which kind, from where, what is expected, and the file."""

    kind: str
    told: str
    expect: str
    source: bytes | None


@dataclass
class Student:
    """One submission.

    Attributes:
        number: unique.
        names: of those who hand it in together.
        answers: by exercise.
        files: by the path that they have with their author.
        key: the name that the batch gives it; set by the shape.
    """

    number: int
    names: tuple[str, ...]
    answers: Mapping[str, Answer]
    files: dict[str, bytes] = field(default_factory=dict)
    key: str = ""

    @property
    def login(self) -> str:
        """A short name of plain letters."""
        return f"{''.join(char for char in self.names[0].lower() if 'a' <= char <= 'z')}{self.number:04}"


class Answers:
    """Makes answers of a course's exercises.

    Args:
        exercises: of which.
        rng: by which they are drawn.
    """

    def __init__(self, exercises: Sequence[Exercise], rng: random.Random) -> None:
        self._rng = rng
        self._references = {exercise.id: _reference(exercise) for exercise in exercises}
        self._mutants: dict[str, list[str]] = {}
        self._attacks = [attack for attack in read_corpus() if _is_plain(attack)]

    def right(self, exercise: Exercise) -> Answer:
        """Draw a right answer: the reference, or another one."""
        assert exercise.reference is not None
        path = self._rng.choice([exercise.reference, *exercise.right])
        return Answer("right", path.name, "full", read_answer(exercise, path).source)

    def wrong(self, exercise: Exercise) -> Answer:
        """Draw a known wrong answer."""
        path = self._rng.choice(exercise.wrong)
        return Answer("wrong", path.name, "loses", read_answer(exercise, path).source)

    def mutant(self, exercise: Exercise) -> Answer:
        """Draw the reference with a small change, which may be no fault."""
        if exercise.id not in self._mutants:
            source = self._references[exercise.id]
            self._mutants[exercise.id] = [one.source for one in mutants_of(source, judged(source, exercise))]
        source = self._rng.choice(self._mutants[exercise.id])
        return Answer("mutant", "", "any", source.encode())

    def blank(self, exercise: Exercise) -> Answer:
        """Return the starter as an answer."""
        return Answer("blank", "", "blank", exercise.starter.read_bytes())

    def missing(self, exercise: Exercise) -> Answer:
        """Return an answer without a file."""
        del exercise
        return Answer("missing", "", "missing", None)

    def broken(self, exercise: Exercise) -> Answer:
        """Draw a file that is broken in one of the ways that files are."""
        reference = self._references[exercise.id]
        names = [node.name for node in ast.parse(reference).body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        odd = self._rng.choice(ODD)
        ways: dict[str, tuple[str, bytes]] = {
            "syntax error": ("zero", reference.replace(":\n", "\n", 1).encode()),
            "raises": ("zero", f"{reference}\nraise RuntimeError('no')\n".encode()),
            "exits": ("zero", f"import os\nos._exit(0)\n{_without_future(reference)}".encode()),
            "missing module": ("zero", f"import sklearn_of_mine\n{_without_future(reference)}".encode()),
            "empty": ("loses", b"# nothing yet\n"),
            "not text": ("zero", b"\xff\xfe\x00" + reference.encode("utf-16-le")),
            "odd": ("loses", _all_of(names, f"return {odd}")),
            "loops": ("loses", _all_of(names, "while True: pass")),
        }
        way = self._rng.choices(list(ways), [3, 3, 2, 2, 2, 1, 4, 1])[0]
        return Answer("broken", way, *ways[way])

    def hostile(self, exercise: Exercise) -> Answer:
        """Draw an attack with a right answer below it."""
        attack = self._rng.choice(self._attacks)
        ((_, text),) = attack.files.items()
        future = "from __future__ import annotations\n" if "from __future__" in self._references[exercise.id] else ""
        source = f"{future}{_without_future(text.decode())}\n\n{_without_future(self._references[exercise.id])}"
        return Answer("hostile", attack.name, "any", source.encode())


def _reference(exercise: Exercise) -> str:
    assert exercise.reference is not None
    return exercise.reference.read_text(encoding="utf-8")


def _all_of(names: Sequence[str], body: str) -> bytes:
    """Return the source of functions of these names with the same body."""
    return "\n\n".join(f"def {name}(*args, **named):\n    {body}\n" for name in names).encode()


def _without_future(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if not line.startswith("from __future__"))


def _is_plain(attack: Attack) -> bool:
    """Return whether an attack is one module as people write it, so that it can stand before an answer."""
    more = attack.links or attack.odd or attack.large or attack.many or attack.bytes or attack.author
    if more or len(attack.files) != 1 or attack.repeat:
        return False
    ((name, text),) = attack.files.items()
    try:
        ast.parse(text)
        return name.endswith(".py") and bool(text.decode())
    except (SyntaxError, ValueError):
        return False


def students_of(exercises: Sequence[Exercise], count: int, seed: int) -> list[Student]:
    """Draw a class of students."""
    rng = random.Random(seed)
    answers = Answers(exercises, rng)
    made = []
    for number in range(1, count + 1):
        kind = rng.choices(list(DRAWN), list(DRAWN.values()))[0]
        own = {exercise.id: answers.right(exercise) for exercise in exercises}
        if kind == "learning":
            parts = rng.choices(list(PARTS), list(PARTS.values()), k=len(exercises))
            own = {item.id: getattr(answers, part)(item) for item, part in zip(exercises, parts, strict=True)}
        elif kind != "diligent":
            chosen = rng.choice(exercises)
            own[chosen.id] = getattr(answers, kind)(chosen)
        if all(answer.source is None for answer in own.values()):
            own[exercises[0].id] = answers.right(exercises[0])
        made.append(Student(number, (f"{rng.choice(FIRST)} {rng.choice(LAST)}",), own))
    for student in made:
        student.files = dict(_files(student, rng))
    return made


def _files(student: Student, rng: random.Random) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a student, by names as people and browsers change them; some hand in a notebook."""
    there = {id: answer for id, answer in student.answers.items() if answer.source is not None}
    if rng.random() < 0.04 and all(answer.kind == "right" for answer in there.values()):
        yield "week1.ipynb", _notebook({id: answer.source or b"" for id, answer in there.items()})
        return
    for id, answer in there.items():
        name = rng.choices((f"{id}.py", f"{id} (1).py", f"{id.capitalize()}.py", f"{id}-2.py"), [85, 5, 5, 5])[0]
        yield name, answer.source or b""


def _notebook(sources: Mapping[str, bytes]) -> bytes:
    cells: list[dict[str, object]] = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None,
         "source": f"# exercise: {id}\n{source.decode()}"}
        for id, source in sources.items()
    ]  # fmt: skip
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}).encode()


# -- shapes ---------------------------------------------------------------------------------------------------------

Files = Iterator[tuple[str, bytes]]
"""Paths and contents of a download. Each shape sets the keys of the students."""


def canvas(students: Sequence[Student]) -> Files:
    """Yield the files as Canvas packs them: in one flat folder."""
    for student in students:
        last = "".join(char for char in "".join(reversed(student.names[0].lower().split())) if char.isalnum())
        student.key = str(student.number)
        late = "_LATE" if student.number % 9 == 0 else ""
        for number, (name, data) in enumerate(student.files.items()):
            yield f"{last}{late}_{student.number}_{9000 + 20 * student.number + number}_{name}", data


def moodle_folders(students: Sequence[Student]) -> Files:
    """Yield the files as Moodle packs them with folders: a folder for each submission."""
    for student in students:
        student.key = str(student.number)
        for name, data in student.files.items():
            yield f"{student.names[0]}_{student.number}_assignsubmission_file_/{name}", data


def moodle_flat(students: Sequence[Student]) -> Files:
    """Yield the files as Moodle packs them without folders: in one flat folder."""
    for student in students:
        student.key = str(student.number)
        for name, data in student.files.items():
            yield f"{student.names[0]}_{student.number}_assignsubmission_file_{name}", data


def gradescope(students: Sequence[Student]) -> Files:
    """Yield the files as Gradescope packs them: numbered folders, and a file that says whose they are."""
    told = {}
    for student in students:
        emails = [f"{student.login}@x.org"] + [f"partner{student.number:04}@x.org"] * (student.number % 10 == 0)
        student.key, student.names = "+".join(sorted(emails)), tuple(sorted(emails))
        told[f"submission_{student.number}"] = {":submitters": [{":email": email} for email in emails]}
        for name, data in student.files.items():
            yield f"submission_{student.number}/{name}", data
    yield "submission_metadata.yml", yaml.safe_dump(told).encode()


def clones(students: Sequence[Student]) -> Files:
    """Yield the files as clones of repositories, beside each other."""
    for student in students:
        student.key = student.login
        yield f"week1-submissions/week1-{student.login}/.git/HEAD", b"ref: refs/heads/main\n"
        for name, data in student.files.items():
            yield f"week1-submissions/week1-{student.login}/exercises/{name}", data


def nbgrader(students: Sequence[Student]) -> Files:
    """Yield the files as nbgrader collects them."""
    for student in students:
        student.key = student.login
        yield f"submitted/{student.login}/week1/timestamp.txt", b"2026-11-22 10:00:00 UTC\n"
        for name, data in student.files.items():
            yield f"submitted/{student.login}/week1/{name}", data


def folders(students: Sequence[Student]) -> Files:
    """Yield the files in a folder for each student, some with folders in it."""
    for student in students:
        student.key = student.login
        inner = "week1/" if student.number % 3 == 0 else ""
        for name, data in student.files.items():
            yield f"{student.login}/{inner}{name}", data


def single_files(students: Sequence[Student]) -> Files:
    """Yield single files, whose names begin with their author's."""
    for student in students:
        student.key = student.login
        for name, data in student.files.items():
            yield f"{student.login}_{name}" if name.endswith(".py") else f"{student.login}.ipynb", data


def zips(students: Sequence[Student]) -> Files:
    """Yield a zip for each student."""
    for student in students:
        student.key = student.login
        yield f"{student.login}.zip", _zipped(student.files.items())


SHAPES: dict[str, tuple[Callable[[Sequence[Student]], Files], bool]] = {
    "canvas": (canvas, True),
    "moodle-folders": (moodle_folders, True),
    "moodle-flat": (moodle_flat, True),
    "gradescope": (gradescope, True),
    "clones": (clones, False),
    "nbgrader": (nbgrader, False),
    "folders": (folders, False),
    "single-files": (single_files, False),
    "zips": (zips, False),
}
"""Each shape, and whether its platform gives one zip."""


def _zipped(files: Iterable[tuple[str, bytes]]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return data.getvalue()


def make_class(dest: Path, exercises: Sequence[Exercise], shape: str, count: int, seed: int) -> Path:
    """Write a class and its manifest; give the path that `grade batch` is to be told."""
    students = students_of(exercises, count, seed)
    lay, is_zip = SHAPES[shape]
    dest.mkdir(parents=True, exist_ok=True)
    files = list(lay(students))
    if is_zip:
        path = dest / f"{shape}.zip"
        path.write_bytes(_zipped(files))
    else:
        path = dest / shape
        for name, data in files:
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(data)
    rows = {
        student.key: {
            "authors": list(student.names) if shape == "gradescope" else [student.key],
            "exercises": {
                id: {"kind": answer.kind, "told": answer.told, "expect": answer.expect}
                for id, answer in student.answers.items()
            },
        }
        for student in students
    }
    told = {"shape": shape, "seed": seed, "exercises": [exercise.id for exercise in exercises], "submissions": rows}
    (dest / "manifest.json").write_text(json.dumps(told, indent=1, ensure_ascii=False), encoding="utf-8")
    return path


def exercises_named(names: Sequence[str], count: int) -> list[Exercise]:
    """Return the named exercises of the course in this folder, or the first ones."""
    course = load_course(find_course(Path.cwd()))
    return [item for name in names for item in find_exercises(course, name)] or list(course.exercises[:count])


@click.command()
@click.argument("dest", type=click.Path(path_type=Path))
@click.option("--shape", type=click.Choice(list(SHAPES)), default="folders", show_default=True)
@click.option("--students", default=40, show_default=True)
@click.option("--exercise", "names", multiple=True, help="An exercise or a module; by default the first five.")
@click.option("--seed", default=1, show_default=True)
def command(dest: Path, shape: str, students: int, names: tuple[str, ...], seed: int) -> None:
    """Make a class."""
    path = make_class(dest, exercises_named(names, 5), shape, students, seed)
    click.echo(f"{students} submissions are in {path}, and what is expected of them in {dest / 'manifest.json'}")


if __name__ == "__main__":
    command()
