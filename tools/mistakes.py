"""What students read first of the mistakes that are natural: true, and under the right rule?

    python tools/mistakes.py [EXERCISE...] [--write] [--full]

`tools/mistakes/NUMBER.txt` has the mistakes of one exercise, made up from its task alone. The first section is a
right answer; each other one says how a mistake differs from it, under a header: a short name, and the rule that is
broken, or `load`, `name`, `signature` for what breaks no rule, or several of these where either will do:

    == lost keepdim: C3
    - return x.mean(1, keepdim=True)
    + return x.mean(1)

Lines with `-` stand in the right answer, without their indentation, each followed by those that replace it; a section
of plain code has functions which replace those of the same name, and imports. `== all: load` is followed by a file.
`--write` brings docs/mistakes.md up to date, exercise by exercise. A run that was interrupted goes on where it stopped,
until code of `grader` changes. Exits with 1 if a
mistake costs nothing or the right answer loses points.
"""

from __future__ import annotations

import ast
import hashlib
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import click

from grader.course.layout import find_course, results_path
from grader.course.load import find_exercises, load_course
from grader.grading.diagnosis import KnownMistakes
from grader.grading.lanes import setup_of
from grader.grading.plan import RunPlan
from grader.grading.runtime import Runtime
from grader.grading.schedule import grade_submission
from grader.grading.store import Store, open_store
from grader.model import Course, Exercise, GradedExercise, Submission
from grader.model.messages import Setup
from grader.model.report import ExerciseFiles
from grader.model.score import Causes, points_text
from grader.report.terminal import exercise_lines

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "tools" / "mistakes"
PAGE = ROOT / "docs" / "mistakes.md"
RIGHT = "right"
WHOLE = "all"
_HEADER = re.compile(r"^== (.+?)(?:: ([\w ]+))?$", re.MULTILINE)
_ROW = re.compile(r"^\| (?!mistake).+? \| ([\w ]+) \| ([\w() ]*) \|", re.MULTILINE)
_INTRODUCTION = """# Mistakes

Thirty mistakes of each exercise, made up from its task alone, and the first sentence that a student reads of each.
*breaks* names the rules that a mistake breaks, and *rule* the one that the message names; any of several will do. Here
`load`, `name` and `signature` stand for a file that does not load, a function that is not there, and one that refuses
its arguments. For a known mistake, the student also reads "This looks like: ...".
`python tools/mistakes.py --write` renews this page.
"""


@dataclass(frozen=True)
class Mistake:
    """One mistake: what it is called, the rules of which it breaks one, and the file with it."""

    name: str
    rules: tuple[str, ...]
    source: str


@dataclass(frozen=True)
class Met:
    """A mistake, and what grading makes of it."""

    mistake: Mistake
    graded: GradedExercise

    @property
    def lost(self) -> int:
        """The points that the mistake loses, in hundredths."""
        return self.graded.score.possible - self.graded.score.earned

    @property
    def rule(self) -> str:
        """The rule of the first message, or the cause that stands in place of a rule, such as "load"."""
        cause = Causes.of(self.graded.checks).cause
        if cause is None:
            return ""
        special = cause.outcome.cause in ("load", "name", "signature") and cause.outcome.cause in self.mistake.rules
        return cause.outcome.cause if special else cause.check.contract

    @property
    def is_named_right(self) -> bool:
        """Whether the first message names a rule that the mistake breaks."""
        return self.rule in self.mistake.rules

    @property
    def sentence(self) -> str:
        """The first line of the message that a student reads first; "(nothing)" if no check failed."""
        cause = Causes.of(self.graded.checks).cause
        return cause.outcome.message.split("\n")[0] if cause is not None else "(nothing)"


def mistakes_of(text: str) -> Iterator[Mistake]:
    """Yield the right answer, and then each mistake of a file."""
    parts = _HEADER.split(text)[1:]
    right = parts[2].strip() + "\n"
    for name, rules, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        try:
            yield Mistake(
                name, tuple((rules or "").split()), right if name == RIGHT else _with_change(right, name, body)
            )
        except (ValueError, SyntaxError) as error:
            raise click.ClickException(f"mistake {name!r}: {error}") from error


def _with_change(right: str, name: str, body: str) -> str:
    """Return the right answer with the change that a section of the file describes.

    Args:
        right: the source of the right answer.
        name: the heading of the section.
        body: the whole new source, lines to remove and to add with "-" and "+", or functions to replace.
    """
    lines = body.strip("\n").split("\n")
    if name.split(",")[0] == WHOLE:
        return body.strip("\n") + "\n"
    if all(not line or line[0] in "+-" for line in lines):
        return _with_lines(right, [line for line in lines if line])
    return _with_functions(right, body)


def _with_lines(right: str, edits: list[str]) -> str:
    text = right.split("\n")
    place, indent, before = len(text), "", ""
    for edit in edits:
        sign, line = edit[0], edit[2:]
        if sign == "-":
            places = [number for number, there in enumerate(text) if there.strip() == line.strip()]
            if len(places) != 1:
                raise ValueError(f"{len(places)} lines are  {line}")
            there = text.pop(places[0])
            # What comes instead stands where the first of these stood.
            if before != "-":
                place, indent = places[0], there[: len(there) - len(there.lstrip())]
        else:
            text.insert(place, indent + line if line else "")
            place += 1
        before = sign
    return "\n".join(text)


def _with_functions(right: str, body: str) -> str:
    """Return the right answer with functions replaced by those of the same name, and all other code above them."""
    text, new = right.split("\n"), ast.parse(body)
    tree = ast.parse(right)
    head = []
    for node in new.body:
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
        source = "\n".join(body.split("\n")[first - 1 : node.end_lineno])
        old = [item for item in tree.body if isinstance(item, ast.FunctionDef) and _name(item) == _name(node)]
        if not old:
            head.append(source)
            continue
        first, last = old[0].lineno - 1, old[0].end_lineno or 0
        text[first:last] = [source, *[""] * (last - first - 1)]
    return re.sub(r"\n{4,}", "\n\n\n", "\n".join([*head, *text]))


def _name(node: ast.stmt) -> str:
    return node.name if isinstance(node, ast.FunctionDef) else ""


def met(course: Course, exercise: Exercise, mistake: Mistake, lanes: Runtime, setup: Setup, store: Store) -> Met:
    """Grade a mistake as `grade` does, unless the store has its result; return what a student meets."""
    source = mistake.source.encode()
    submission = Submission(
        "student",
        {exercise.id: ExerciseFiles({exercise.file_name: source}, exercise.starter)},
        hashlib.sha256(source).hexdigest(),
    )
    plan = RunPlan(course, [exercise], setup, runs_untouched=True, compiles=True)
    return Met(mistake, grade_submission(plan, submission, lanes, store).exercises[0])


def table(exercise: Exercise, found: Iterable[Met]) -> str:
    """Return the table of an exercise's mistakes for the page."""
    rows = [
        f"\n## {exercise.number} {exercise.title}\n",
        "| mistake | breaks | rule | first sentence |",
        "|---|---|---|---|",
    ]
    for item in found:
        if item.mistake.name == RIGHT:
            continue
        sentence = _steady(item.sentence).replace("|", "\\|")
        known = " (known)" if item.graded.mistakes else ""
        rows.append(f"| {item.mistake.name} | {' '.join(item.mistake.rules)} | {item.rule}{known} | {sentence} |")
    return "\n".join(rows) + "\n"


def _steady(sentence: str) -> str:
    """Return a sentence without the numbers that differ from run to run."""
    return re.sub(r"\b\d+(?:\.\d+)? times as long", "N times as long", sentence)


def written(pages: dict[str, str]) -> str:
    """Return the whole page: the new tables, and all others from the file, in the order of the course."""
    old = PAGE.read_text(encoding="utf-8") if PAGE.is_file() else ""
    there = {part.split()[1]: "\n" + part for part in re.split(r"\n(?=## )", old)[1:]}
    every = {number: part.rstrip("\n") + "\n" for number, part in {**there, **pages}.items()}
    tables = "".join(every[number] for number in sorted(every))
    rows = [(set(breaks.split()), told.split()) for breaks, told in _ROW.findall(tables)]
    right = sum(bool(breaks.intersection(told)) for breaks, told in rows)
    known = sum("(known)" in told for _, told in rows)
    summary = f"In {right} of {len(rows)} mistakes, the message names a rule that is broken; {known} are known ones."
    return f"{_INTRODUCTION}\n{summary}\n{tables}"


@click.command()
@click.argument("names", nargs=-1)
@click.option("--write", is_flag=True, help="Bring docs/mistakes.md up to date.")
@click.option("--full", is_flag=True, help="Print what a student reads of each.")
@click.option("--only", default="", help="Those with this in their names.")
def command(names: tuple[str, ...], *, write: bool, full: bool, only: str) -> None:
    """Grade the mistakes of some exercises, or of all."""
    course = load_course(find_course(ROOT))
    chosen = [item for name in names for item in find_exercises(course, name)] or list(course.exercises)
    chosen = [item for item in chosen if (FOLDER / f"{item.number}.txt").is_file()]
    setup = replace(setup_of(), seed=0)
    pages, every = {}, []
    with (
        open_store(results_path(course)) as store,
        Runtime(chosen, setup, known=KnownMistakes(setup, store)) as lanes,
    ):
        for exercise in chosen:
            text = (FOLDER / f"{exercise.number}.txt").read_text(encoding="utf-8")
            found = []
            click.echo(f"{exercise.number} {exercise.title}")
            for mistake in mistakes_of(text):
                if only not in mistake.name:
                    continue
                item = met(course, exercise, mistake, lanes, setup, store)
                found.append(item)
                _print(item, full=full)
            pages[exercise.number] = table(exercise, found)
            every += found
            if write and not only:  # at once: a run of all takes long, and may be interrupted
                PAGE.write_text(written(pages), encoding="utf-8")
    sys.exit(_summed_up(every))


def _print(item: Met, *, full: bool) -> None:
    mistake = item.mistake
    if mistake.name == RIGHT:
        if item.lost:
            click.echo("\n".join(["  the right answer loses points", *exercise_lines(item.graded, every=False)]))
        return
    mark = " " if item.is_named_right else "!"
    click.echo(f"{mark} {mistake.name}: {' '.join(mistake.rules)} / {item.rule or '-'} -{points_text(item.lost)}")
    if full:
        click.echo("\n".join(f"    {line}" for line in list(exercise_lines(item.graded))[1:]))
        return
    click.echo(f"      {item.sentence}")
    for found in item.graded.mistakes:
        click.echo(f"      looks like: {found.sentence}")


def _summed_up(every: list[Met]) -> int:
    wrong = [item for item in every if item.mistake.name != RIGHT]
    right = sum(item.is_named_right for item in wrong)
    free = [item for item in wrong if not item.lost]
    diagnosed = sum(bool(item.graded.mistakes) for item in wrong)
    click.echo(
        f"{len(wrong)} mistakes: {right} told under a rule that they break, {len(free)} cost nothing, {diagnosed} known"
    )
    return 1 if free or any(item.lost for item in every if item.mistake.name == RIGHT) else 0


if __name__ == "__main__":
    command()
