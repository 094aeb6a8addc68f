"""A course → its copy for students: proved, written beside its place, and only then put into it.

The reference and the known wrong answers are run for it, on the shown checks. They say of what the copy does not have:
what hidden checks decide, and what is counted of the reference. The sentences of wrong answers are sealed with what the
answers do in the shown checks. A file that is not listed here is not copied.
"""

from __future__ import annotations

import ast
import io
import json
import os
import re
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from grader.course import layout
from grader.course.answers import Answer, as_submitted, lines_of, read_answer, starter_digest
from grader.course.files import read_yaml
from grader.course.install import other_packages, pip_arguments, require_install, wheel_bytes
from grader.course.layout import ASSISTANTS_PAGE, ZIP, Places, notebook_of, page_of
from grader.course.load import load_course
from grader.course.marks import with_caps_text
from grader.course.topics import content_for_students
from grader.grading.behaviour import (
    COSTS,
    SEALED_SEEDS,
    Sealed,
    SealedFacts,
    Traces,
    behaviour_key,
    failures_of,
    seal,
    sealed_file,
    traces_of,
)
from grader.grading.diagnosis import (
    MOST,
    answers_with_sentence,
    functions_changed_by,
    required_names,
    sentences_of,
    traces_in,
)
from grader.grading.outcomes import graded_from
from grader.grading.runtime import Runtime
from grader.model import Course, Exercise, HandIn, Install, Module, Outcome, Verdict, Withheld
from grader.model.errors import CourseError
from grader.model.files import EPOCH_SECONDS, failing_as, zip_bytes
from grader.model.messages import CheckSelection, Setup
from grader.model.progress import Progress
from grader.model.score import divide, in_points, points_text
from grader.release.proof import LeakError, SecretKind, prove_no_secret, prove_no_secret_in_sentences, secrets_of

_TEMPLATES = Path(__file__).with_name("templates")
_WIDTH = 110
_IGNORED = ".grade/\n.ipynb_checkpoints/\n__pycache__/\n.venv/\n"
"""What git is to leave out of a student's repository."""

_STAFFS_KEYS = {"column", "weight", "extensions", "late_days"}
"""What a hand-in says to staff: where its points go, what they weigh, and who may be late."""

Files = dict[str, bytes]
"""A copy: contents by path, as it is typed with slashes."""

_MARKS = re.compile(r"[\\*_<>\[\]$#|~]")
_CODE = re.compile(r"(`[^`]*`)")

Cell = dict[str, Any]

_Behaviour = tuple[Traces, ...]


def release(
    course: Course,
    handin: HandIn | None,
    setup: Setup,
    place: Path,
    *,
    zipped: bool,
    notebooks: bool = False,
    progress: Progress,
) -> Path:
    """Write the copy of a course that students get, and return its path.

    Args:
        course: the whole course.
        handin: the hand-in whose exercises the copy has; None for all exercises.
        setup: the set-up of the runs of known answers.
        place: the path of the new folder; with `zipped` the path of the new file, which gets the suffix .zip.
        zipped: True if the copy becomes one zip file.
        notebooks: True if the copy has a notebook for each module, too.
        progress: the progress that gets lines about the run and its result, and how many exercises are done.

    Raises:
        CourseError: the place cannot be used, or the course is not ready to be given out.
        LeakError: the copy has what only staff may have; nothing is left of it.
    """
    if zipped and place.suffix != ZIP:
        place = place.with_name(place.name + ZIP)
    _check_place(course, place, zipped=zipped)
    part = restrict_to_handin(course, handin)
    if not any(exercise.reference or exercise.hidden_checks for exercise in part.exercises):
        raise CourseError(f"{part.root} has no solutions and no hidden checks: it is a copy; go to the course")
    install = require_install(course)
    files = copied_files(part)
    if install.wheel:
        files[install.wheel] = _read_clean_wheel(course, install)
    progress.noted(f"running the known answers of {len(part.exercises)} exercises on the shown checks")
    facts: dict[str, CopyFacts] = {}
    secrets = tuple(secrets_of(course))
    with Runtime(part.exercises, setup) as runtime:
        for number, exercise in enumerate(part.exercises):
            progress.advanced(number, len(part.exercises))
            facts[exercise.id] = copy_facts_of(exercise, runtime, setup)
            sealed, sentences = seal_mistakes(exercise, runtime)
            if sealed:
                path = Places.of(exercise).mistakes.as_posix()
                # Once they are sealed, they cannot be searched.
                prove_no_secret_in_sentences(path, sentences, secrets)
                files[path] = sealed_file(sealed)
    files |= yaml_files(part, facts)
    files |= page_files(part, facts, install, notebooks=notebooks)
    prove_no_secret(files, secrets)
    _write_in_one_step(place, files, zipped=zipped)
    withheld = [fact.withheld for fact in facts.values()]
    hidden, decided = sum(row.checks for row in withheld), points_text(sum(row.points for row in withheld))
    progress.noted(f"{len(files):,} files written; none contains any of {len(secrets):,} passages of the staff's files")
    points = points_text(sum(exercise.points for exercise in part.exercises))
    progress.noted(f"{hidden} hidden checks stay here and decide {decided} of {points} points")
    return place


def _check_place(course: Course, place: Path, *, zipped: bool) -> None:
    """Raise `CourseError` if a copy cannot be written to `place`.

    Call this function before anything is run.
    """
    where, root = place.resolve(), course.root.resolve()
    if where == root or root in where.parents:
        raise CourseError(f"{place} is in the course itself, beside the solutions; name a place elsewhere")
    is_folder = place.is_dir() and not place.is_symlink() and not zipped
    if os.path.lexists(place) and (not is_folder or any(place.iterdir()) or where == Path.cwd().resolve()):
        raise CourseError(f"{place} exists; a copy needs a new or an empty folder elsewhere, or a new file")
    if not where.parent.is_dir() or not os.access(where.parent, os.W_OK):
        raise CourseError(f"{place}: there is no folder {where.parent} to write into; create it first")


def _read_clean_wheel(course: Course, install: Install) -> bytes:
    """Read the grader's wheel that goes into the copy, and refuse it if it has staff's files.

    A wheel contains the course of the checkout that it was built of, which may be this course.

    Raises:
        LeakError: the wheel contains a file of staff's of this course.
        CourseError: the wheel cannot be read.
    """
    data = wheel_bytes(course, install)
    secret = {path.read_bytes(): path for path in layout.staff_files(course) if not layout.is_probe(path)}
    canaries = [each.text.encode() for each in secrets_of(course) if each.kind is SecretKind.CANARY]
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as wheel:
            for name in wheel.namelist():
                member = wheel.read(name)
                if member.strip() and (member in secret or any(canary in member for canary in canaries)):
                    raise LeakError(
                        f"{install.wheel}: {name} in it is a file of staff's of this course; build the wheel of a "
                        f"checkout that has another course, or write an address in {layout.COURSE_FILE}: install"
                    )
    except zipfile.BadZipFile:
        raise CourseError(f"{install.wheel} is not a wheel;  pip wheel --no-deps FOLDER  makes one") from None
    return data


def _write_in_one_step(place: Path, files: Files, *, zipped: bool) -> None:
    """Write files to `place` in one step.

    They are written beside `place`, and read back to be compared. Then the result is renamed to `place`.
    """
    parent = place.resolve().parent
    with (
        failing_as(f"{place} could not be written", "nothing is left of it; name another place"),
        tempfile.TemporaryDirectory(prefix=".release-", dir=parent, ignore_cleanup_errors=True) as folder,
    ):
        draft = Path(folder)
        made = draft / place.name
        _write_folder(made, files)
        load_course(made)  # what is given out is a course
        there = {path.relative_to(made).as_posix(): path for path in made.rglob("*") if not path.is_dir()}
        if {name: path.read_bytes() for name, path in there.items()} != files:
            raise CourseError(f"{place}: what was written is not what was proved; name a place on another disk")
        if zipped:
            made = draft / "archive"
            made.write_bytes(zip_bytes({f"{place.stem}/{path}": data for path, data in files.items()}))
            made.chmod(0o644)
        elif place.is_dir():
            place.rmdir()  # an empty one, which not every system puts another in the place of
        os.replace(made, place)


def _write_folder(folder: Path, files: Files) -> None:
    """Write files into a folder, with modes and times that are the same for each copy.

    All files have one mode, all folders have one mode, and all of them have one time.
    """
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    # The inner ones first: to change what is in a folder changes its time.
    for path in sorted((folder, *folder.rglob("*")), reverse=True):
        path.chmod(0o755 if path.is_dir() else 0o644)
        os.utime(path, (EPOCH_SECONDS, EPOCH_SECONDS))


# -- what is run for it ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CopyFacts:
    """The facts of one exercise that a copy states.

    Attributes:
        withheld: its hidden checks.
        counters: the counts while the reference ran, by shown check; a hidden one's could reveal its inputs.
    """

    withheld: Withheld
    counters: Mapping[str, Mapping[str, int]]


def copy_facts_of(exercise: Exercise, runtime: Runtime, setup: Setup) -> CopyFacts:
    """Run the reference on the shown checks, and return the facts that the copy has.

    They are the counters of the reference, and the number and points of the hidden checks.

    Args:
        exercise: the exercise.
        runtime: the runtime that runs them.
        setup: the set-up of the lanes.

    Raises:
        CourseError: the checks cannot be read, or the reference does not pass a shown check.
        StartError: a process of ours did not start.
    """
    verify = f"grade verify {exercise.id} shows all"
    where = Places.of(exercise).shown.as_posix()
    if problem := runtime.collected().problems.get(exercise.id):
        raise CourseError(f"{where}: its checks cannot be read ({problem.strip().splitlines()[-1]}); fix it; {verify}")
    checks = runtime.checks_of(exercise)
    shown = [check for check in checks if check.shown]
    hidden = [check.share for check in checks if not check.shown]
    by_checks = exercise.points - sum(exercise.staff.values())
    points = divide(by_checks, [*(check.share for check in shown), sum(hidden)])[-1]
    withheld = Withheld(len(hidden), sum(hidden), points)
    passed: Sequence[Outcome] = ()
    if exercise.reference is not None and shown:
        files = as_submitted(exercise, read_answer(exercise, exercise.reference).source)
        selection = CheckSelection(frozenset(check.id for check in shown), again=True)
        passed = runtime.run(exercise, files, setup.seed_of(""), selection).outcomes
    for outcome in passed:
        if outcome.verdict.is_decided and outcome.verdict is not Verdict.PASSED:
            raise CourseError(
                f"{Places.of(exercise).reference.as_posix()}: the reference does not pass check_{outcome.check} "
                f"({outcome.verdict}); fix one of the two; {verify}"
            )
    counters = {outcome.check: dict(outcome.counters) for outcome in passed if outcome.counters}
    return CopyFacts(withheld, counters)


def seal_mistakes(exercise: Exercise, runtime: Runtime) -> tuple[Sealed, list[str]]:
    """Return the sentences on known mistakes, encrypted for the copy and in plain text.

    In the copy a sentence can be read only by an answer with that mistake: the key is computed from how the checks end
    for it. The mistakes are those that shown checks recognize. Sentences of wrong answers that end alike are encrypted
    together; they are left out if they are more than `MOST`, or if no shown check must catch one of these answers.

    Returns:
        The encrypted sentences by the keys that `behaviour_key` returns, and the sentences themselves.
    """
    rules = {check.id: check.contract for check in runtime.checks_of(exercise) if check.shown}
    alike: dict[str, tuple[_Behaviour, list[Answer]]] = {}
    for answer in answers_with_sentence(exercise):
        for behaviour in _observe_behaviours(exercise, runtime, answer):
            alike.setdefault(behaviour_key(exercise.id, behaviour), (behaviour, []))[1].append(answer)
    sealed: dict[str, str] = {}
    texts: list[str] = []
    for name, (behaviour, answers) in alike.items():
        sentences = sentences_of(answers)
        if len(sentences) <= MOST and any(answer.caught_by in behaviour[0] for answer in answers):
            texts += sentences
            told: dict[str, SealedFacts] = {}
            for answer in answers:
                (sentence,), names = sentences_of([answer]), required_names(exercise, answer, behaviour[0])
                if (before := told.get(sentence)) is not None:
                    names |= before.names
                changed = functions_changed_by(exercise, answer)
                told[sentence] = SealedFacts(names, changed, rules.get(answer.caught_by, ""))
            sealed[name] = seal(exercise.id, behaviour, told)
    return sealed, texts


def _observe_behaviours(exercise: Exercise, runtime: Runtime, answer: Answer) -> list[_Behaviour]:
    """Run a known answer on the shown checks, and return how those that it fails end.

    The result has a tuple for each function at fault. A tuple has a dict for each seed with which the answer is run,
    such as `{"views": Trace(...)}`: how each failed check of the function ends. A function whose checks end otherwise
    when the answer is run again is left out.
    """
    shown = {check.id: check for check in runtime.checks_of(exercise) if check.shown}
    files: Mapping[str, bytes] = as_submitted(exercise, answer.source)
    outcomes = runtime.run(
        exercise, files, SEALED_SEEDS[0], CheckSelection(frozenset(shown), again=True, with_tries=False)
    ).outcomes
    rows = graded_from(exercise, list(shown.values()), outcomes).checks
    first = traces_of(rows)
    failing = {id: trace for id, trace in first.items() if trace.lost}
    again = {id for id in failing if shown[id].category != COSTS}

    def run_again(seed: int) -> Traces:
        return runtime.call_in_lane(lambda lane: traces_in(lane, exercise, files, seed, again)).result().traces

    # What reads uninitialized memory does another thing each time, and the copy is to be the same each time.
    once_more, *further = map(run_again, SEALED_SEEDS)
    groups = [
        group for group in failures_of(rows) if all(failing[id] == once_more.get(id, failing[id]) for id in group)
    ]
    seen = [{**failing, **traces} for traces in ({}, *further)]
    return [tuple({id: traces[id] for id in group} for traces in seen) for group in groups]


# -- what it contains --------------------------------------------------------------------------------------------------


def restrict_to_handin(course: Course, handin: HandIn | None) -> Course:
    """Return a course with only the exercises of a hand-in.

    Modules without such an exercise are left out. For None the whole course is returned.
    """
    if handin is None:
        return course
    modules = [
        replace(module, exercises=tuple(item for item in module.exercises if item.id in handin.exercises))
        for module in course.modules
    ]
    return replace(course, modules=tuple(module for module in modules if module.exercises), handins=(handin,))


def copied_files(part: Course) -> Files:
    """Return the files of a course that students get, as the copy has them.

    They are the checks, probes, starters and pages. Sentences on what a broken rule costs are added to each starter's
    task, and ids of topics are removed from pages.

    Raises:
        CourseError: a file is a link, or a starter is not what it was when its digest was written.
    """
    files: Files = {}
    problems = [problem for exercise in part.exercises for problem in _starter_problems(exercise)]
    for path in layout.released_files(part):
        source = part.root / path
        if source.is_symlink() or not source.is_file():
            problems.append(f"{path.as_posix()}: this is a link or a folder; put the file itself there")
        else:
            files[path.as_posix()] = content_for_students(part.root, path)
    for exercise in () if problems else part.exercises:
        name = Places.of(exercise).starter.as_posix()
        files[name] = with_caps_text(exercise, files[name])
    if problems:
        raise CourseError(*problems)
    return files


def _starter_problems(exercise: Exercise) -> list[str]:
    """Return sentences about a starter that is missing or was changed; [] if it is right.

    A starter was changed if it does not have the digest that was recorded. One that solves the exercise would give the
    solution out.
    """
    places = layout.Places.of(exercise)
    where = places.starter.as_posix()
    if not exercise.starter.is_file():
        return [f"{where}: there is no starter; write it"]
    if exercise.starter_digest and starter_digest(exercise.starter.read_bytes()) != exercise.starter_digest:
        return [
            f"{where}: this is not the starter whose digest stands in {places.description.name}; restore "
            f"it, or, if it was corrected, run  grade verify --write-digests {exercise.id}"
        ]
    return []


def yaml_files(part: Course, facts: Mapping[str, CopyFacts]) -> Files:
    """Return the YAML files of a copy.

    They are written anew, and have neither comments nor the keys that are for staff.
    """
    ids = [exercise.id for exercise in part.exercises]
    files = {layout.COURSE_FILE: _yaml_of(_course_file(part))}
    if (part.root / layout.TOPICS).is_file():
        files[layout.TOPICS.as_posix()] = _yaml_of(read_yaml(part.root / layout.TOPICS, layout.TOPICS.as_posix()))
    for exercise in part.exercises:
        path, fact = layout.Places.of(exercise).description, facts[exercise.id]
        data = read_yaml(part.root / path, path.as_posix())
        data["needs"] = [id for id in data.get("needs", []) if id in ids]
        data["starter"] = starter_digest(exercise.starter.read_bytes())
        if fact.withheld.checks:
            # These may name hidden checks, and hold nothing back where some checks are withheld.
            data.pop("values", None)
            data.pop("void", None)
            data["withheld"] = {**vars(fact.withheld), "points": in_points(fact.withheld.points)}
        for rule in data.get("rules", {}).values():
            rule.pop("rubric", None)  # what staff says of answers, which may tell the right one
        if fact.counters:
            data["counters"] = {check: dict(counters) for check, counters in fact.counters.items()}
        files[path.as_posix()] = _yaml_of({key: value for key, value in data.items() if value not in ([], {}, None)})
    return files


def _course_file(part: Course) -> dict[Any, Any]:
    """Return the content of course.yaml for the copy.

    It has the copy's modules and hand-ins, and lacks the keys that are for staff.
    """
    data = read_yaml(part.root / layout.COURSE_FILE, layout.COURSE_FILE)
    exercises = {module.id: [exercise.id for exercise in module.exercises] for module in part.modules}
    handins = {handin.id for handin in part.handins}
    data["modules"] = [
        {**entry, "exercises": exercises[entry["folder"]]} for entry in data["modules"] if entry["folder"] in exercises
    ]
    data["handins"] = [
        {key: value for key, value in entry.items() if key not in _STAFFS_KEYS}
        for entry in data.get("handins", [])
        if entry["id"] in handins
    ]
    return data


def page_files(part: Course, facts: Mapping[str, CopyFacts], install: Install, *, notebooks: bool) -> Files:
    """Return README.md, AGENTS.md and the notebooks of the copy that students get of a course.

    README.md is for students, and AGENTS.md for programs that help them to write code. A `.gitignore` is returned, too.

    Args:
        part: the course that is released.
        facts: the facts of each exercise, by its id.
        install: the way in which students install the grader.
        notebooks: True if the copy has a notebook for each module.
    """
    packages = other_packages(part)
    words = {
        "part": part,
        "pip_arguments": pip_arguments(install, packages=packages),
        "packages": packages,
        "has_git": install.address.startswith("git+"),
        "hidden": any(fact.withheld.checks for fact in facts.values()),
        "notebooks": notebooks,
        "facts": facts,
        "layout": layout,
        "points_text": points_text,
        "pages": [module for module in part.modules if (part.root / layout.page_of(module.id)).is_file()],
    }
    # Markdown, in which nothing is escaped; the author of the course wrote all words.
    templates = Environment(  # noqa: S701
        loader=FileSystemLoader(_TEMPLATES), undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True
    )
    pages = [layout.STUDENTS_PAGE.as_posix(), layout.ASSISTANTS_PAGE.as_posix()]
    files = {name: templates.get_template(name).render(words).encode() for name in pages}
    return {**files, ".gitignore": _IGNORED.encode(), **(notebooks_of(part, install) if notebooks else {})}


def _yaml_of(data: Mapping[Any, Any]) -> bytes:
    return yaml.safe_dump(dict(data), sort_keys=False, allow_unicode=True, width=_WIDTH).encode()


def notebooks_of(part: Course, install: Install) -> dict[str, bytes]:
    """Return a notebook for each module of a course, by its path in the copy."""
    return {notebook_of(module.id).as_posix(): _notebook(part, module, install) for module in part.modules}


def _notebook(part: Course, module: Module, install: Install) -> bytes:
    cells = [*_top_cells(part, module, install), *(cell for item in module.exercises for cell in _cells_of(item))]
    metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    data = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return (json.dumps(data, indent=1, ensure_ascii=False, sort_keys=True) + "\n").encode()


def _top_cells(part: Course, module: Module, install: Install) -> Iterator[Cell]:
    """Yield the first cells of a module's notebook: what to do, and the import of the grader."""
    page = page_of(module.id)
    about = ""
    if (part.root / page).is_file():
        about = f" [What you need to know](../{page.as_posix()}) stands on a page."
    yield _text_cell(
        "start",
        f"# {_escape_markdown(module.title)}\n\n"
        f"From *{_escape_markdown(part.title)}*.{about} Run the next cell first. Then, for each exercise, write into "
        "its cell, run it, and run the check below. `check()` without a name checks all, and `pack()` makes the file "
        "that you hand in.\n\n"
        "Cells that begin with `# exercise: NAME` are what is checked; you may add more of them. In all other cells "
        "you are free to try things. If a program helps you to write code, let it read "
        f"`{ASSISTANTS_PAGE.name}` first.",
    )
    up = "../" * len(notebook_of(module.id).parent.parts)
    lines = [
        "# Where the grader is not installed yet, as on Colab, run these lines without their #:",
        *(f"# %pip install {words}" for words in pip_arguments(install, up, other_packages(part))),
        "from grader.notebook import check, pack",
    ]
    yield _code_cell("setup", "\n".join(lines))


def _cells_of(exercise: Exercise) -> Iterator[Cell]:
    task, code = _task_and_code(with_caps_text(exercise, exercise.starter.read_bytes()).decode("utf-8"))
    heading = f"## {exercise.number} {_escape_markdown(exercise.title)}\n\n{points_text(exercise.points)} points"
    yield _text_cell(f"{exercise.id}-task", "\n\n".join([heading, *_paragraphs(task)]))
    yield _code_cell(f"{exercise.id}-code", f"# exercise: {exercise.id}\n{code}")
    yield _code_cell(f"{exercise.id}-check", f'check("{exercise.id}")')


def _task_and_code(source: str) -> tuple[str, str]:
    """Return the task of a starter without its title, and its code.

    If the docstring is `Title`, a blank line and `Do it.`, above `def f(): ...`, the result is
    `("Do it.", "def f(): ...")`. Without a task, return "" and the whole text.
    """
    tree = ast.Module([], [])
    with suppress(SyntaxError):
        tree = ast.parse(source)
    task = ast.get_docstring(tree)
    if task is None:
        return "", source.strip("\n")
    after = lines_of(source)[tree.body[0].end_lineno :]
    return task.partition("\n")[2].strip("\n"), "".join(after).strip("\n")


def _paragraphs(task: str) -> Iterator[str]:
    """Yield the paragraphs of a task as Markdown.

    The rule `C1  Return x.` becomes `- **C1** Return x.`, and indented paragraphs become code.
    """
    for block in re.split(r"\n{2,}", task):
        if all(line.startswith("    ") for line in block.split("\n")):
            yield "```\n" + re.sub(r"(?m)^ {4}", "", block) + "\n```"
        else:
            text = re.sub(r"(?m)^(C\d+) {2}", r"- **\1** ", _escape_markdown(block))
            text = re.sub(r"(?m)^ +", "  ", text)
            # What follows a list does not belong to it.
            yield re.sub(r"(?m)^((?:- |  ).*\n)(?!- |  )", r"\1\n", text)


def _escape_markdown(text: str) -> str:
    """Return prose escaped so that Markdown shows it as it is.

    `a*b` gets a backslash before the `*`. Text between backticks stays code.
    """
    parts = _CODE.split(text)
    return "".join(part if part.startswith("`") else _MARKS.sub(r"\\\g<0>", part) for part in parts)


def _text_cell(id: str, source: str) -> Cell:
    # An id as the format requires it: letters, digits, - and _, 64 at the most.
    id = re.sub(r"[^A-Za-z0-9_-]", "-", id)[-64:]
    return {"cell_type": "markdown", "id": id, "metadata": {}, "source": source.splitlines(keepends=True)}


def _code_cell(id: str, source: str) -> Cell:
    return {**_text_cell(id, source), "cell_type": "code", "execution_count": None, "outputs": []}
