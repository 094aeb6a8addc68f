"""What authors type: `grade new`, `verify`, `release` and `pages`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli import options
from grader.model.errors import CourseError
from grader.model.files import write_named
from grader.model.score import pluralize
from grader.report.console import Say, print_json

if TYPE_CHECKING:
    from grader.author.port.draft import Draft

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
MAP, MESSAGES = "course-map.md", "messages.md"


_TITLE = "this title was made from the heading or the names of a question: say what the check examines"
"""What is left to do about the title of a check."""


@click.command("new")
@click.argument("name", metavar="MODULE/EXERCISE", required=False)
@click.option("--from", "tests", type=_FILE, help="Port this pytest file, or notebook of otter or nbgrader.")
@click.option("--reference", type=_FILE, help="With --from: a solution, which becomes the reference.")
@click.option("--again", is_flag=True, help="With --from: replace an earlier draft, except the files that you edited.")
@click.option("--course", "course_folder", type=options.PATH, help="Create a new course in this folder.")
@click.option("--schemas", type=options.PATH, help="Write JSON Schemas of YAML files and reports into this folder.")
def new_command(
    name: str | None,
    tests: Path | None,
    reference: Path | None,
    again: bool,
    course_folder: Path | None,
    schemas: Path | None,
) -> None:
    """Lay out a new exercise or a new course. You then write what is marked TODO."""
    from grader.course.drafts import Drafted, write_draft
    from grader.course.layout import (
        find_course,
        is_course,
        is_student_folder,
        refuse_student_folder,
        student_folder_or_start,
    )
    from grader.course.scaffold import contents_of_exercise, new_course, new_exercise, write_schemas
    from grader.student.folder import typed_path

    if (tests and not name) or ((reference or again) and not tests):
        raise CourseError("--from needs MODULE/EXERCISE, and --reference and --again need --from")
    # First, because it may refuse: nothing is laid out then.
    draft, notes, data = _port(tests, reference) if tests else (None, [], {})
    written, done = [], Drafted([], {}, [], [])
    if course_folder:
        written += new_course(course_folder)
    if schemas:
        from grader.model.files import schema_of
        from grader.report.schema import ReportFile

        written += write_schemas(schemas, {"report.schema.json": schema_of(ReportFile)})
    if name:
        start = (course_folder or Path.cwd()).resolve()
        if not any(map(is_course, (start, *start.parents))) and not is_student_folder(student_folder_or_start(start)):
            raise CourseError("there is no course here: make one with  grade new --course DIR  and go there")
        root = find_course(start)
        refuse_student_folder(root, "new")
        if draft:
            parts = (draft.files, data, draft.points, draft.by_hand)
            done = write_draft(root, name, contents_of_exercise(root, name, *parts, again=again))
            written += done.written
        else:
            written += new_exercise(root, name)
    if not written:
        raise CourseError("say what to lay out: MODULE/EXERCISE, --course DIR or --schemas DIR")
    say = Say()
    say(*(f"wrote {typed_path(path)}" for path in written if path not in done.kept.values()))
    say(*(f"removed {typed_path(path)}, which the new draft does not have" for path in done.removed))
    say(*(f"kept {typed_path(path)}, which you edited; the new draft does not have it" for path in done.obsolete))
    say(
        *(
            f"kept {typed_path(path)}, which you edited; its new draft: {typed_path(new)}"
            for path, new in done.kept.items()
        )
    )
    if draft:
        say(*_left_to_do(draft, written), *(f"  {note}" for note in notes))
    if name:
        what = "do what is listed" if draft else "replace the example and what is marked TODO"
        say(f"Next: {what}, then run  grade verify {name.split('/')[-1]}")


def _port(tests: Path, reference: Path | None) -> tuple[Draft, list[str], dict[str, bytes]]:
    """Make the draft of an exercise from a test file or a notebook.

    Returns:
        The draft; sentences on what is left to do; and the contents of data files, by name.
    """
    from grader.author.port.assignment import MODULE
    from grader.author.port.data_files import literals_for_student_code, read_data_files
    from grader.author.port.draft import Port
    from grader.author.port.notebooks import assignment_of
    from grader.author.port.todos import missing_part_sentences

    try:
        text, solution = (path.read_text(encoding="utf-8") if path else "" for path in (tests, reference))
        folder, assignment = tests.parent, assignment_of(text)
        if assignment is None:
            draft = Port(text, solution).draft("@title@")
            named = [solution, literals_for_student_code(f"{draft.shown}\n{draft.hidden}")]
            data, left_out = read_data_files(folder, named=named)
            return draft, [*left_out.values(), *missing_part_sentences(solution, [*data, *left_out])], data
        text, listed = assignment.test_file(), [*assignment.files, *assignment.modules(folder)]
        # Which students have beside the notebook.
        data, left_out = read_data_files(folder, named=[solution or assignment.reference(), text], listed=listed)
        solution = solution or assignment.reference(data)
        facts = (assignment.points, assignment.hidden, assignment.given_code(), data)
        port = Port(text, solution, MODULE, *facts, notebook=assignment)
        draft = port.draft("@title@")
        lost = [name for name in listed if not (folder / name).exists()]
        notes = [f"the notebook lists {name!r}, which is not beside it: put it there, and start again" for name in lost]
        notes = [*assignment.notes, *notes, *left_out.values(), *missing_part_sentences(solution, [*data, *left_out])]
        return draft, notes, data
    except (OSError, ValueError, SyntaxError) as error:
        raise CourseError(f"{error}; --from and --reference need files of Python, or a notebook, in UTF-8") from None


def _left_to_do(draft: Draft, written: Sequence[Path]) -> Iterator[str]:
    """Yield lines about an exercise that was made from a test file or a notebook.

    They say how many tests it has, such as "ported 5 tests: 3 shown, 2 hidden, 1 by a probe", and where its files still
    have a TODO comment.
    """
    from grader.author.port.todos import lines_with_titles, todos_of
    from grader.student.folder import typed_path

    shown, hidden, beside = draft.counts
    yield f"ported {pluralize(shown + hidden, 'test')}: {shown} shown, {hidden} hidden, {beside} by a probe"
    places: dict[tuple[Path, str], list[int]] = {}
    for path in (path for path in written if path.suffix == ".py"):
        text = path.read_text(encoding="utf-8")
        is_code = not path.name.startswith(("check_", "probe_"))  # whose comments are the author's own
        todos = [
            *todos_of(text, with_comments=not is_code),
            *((line, _TITLE) for line in lines_with_titles(text, draft.titles)),
        ]
        for line, todo in todos:
            places.setdefault((path, todo), []).append(line)
    yield f"left to do in {pluralize(sum(map(len, places.values())), 'place')}:"
    for (path, todo), lines in places.items():
        yield f"  {typed_path(path)}:{','.join(map(str, lines))}: {todo}"
    if draft.untested:
        yield f"  no test examines {', '.join(draft.untested)}: write a check for each, or leave the rule out"


@click.command("verify")
@click.argument("names", metavar="[EXERCISE]...", nargs=-1)
@click.option(
    "--answer",
    "answers",
    metavar="NAME",
    multiple=True,
    shell_complete=options.complete_answers,
    help="Verify only this answer, such as a wrong one that you added. May be given several times.",
)
@click.option("--seeds", type=click.IntRange(min=1), help="Run right answers with so many seeds; by default 20.")
@click.option("--write-digests", is_flag=True, help="First bring the digests of starters in exercise.yaml up to date.")
@click.option("--losses", is_flag=True, help="Also show what each wrong answer loses, and on which rules.")
@click.option("--watch", is_flag=True, help="Verify an exercise again each time its files are saved; 2 seeds.")
@click.option("--poll", is_flag=True, help="With --watch: look for saved files again and again, for network drives.")
@click.option("--fresh", is_flag=True, help="Run also what has not changed since the last run; --json does so, too.")
@click.option("-q", "--quiet", is_flag=True, help="Only the table and what is wrong.")
@options.json
@options.lanes
@options.workers()
def verify_command(
    names: tuple[str, ...],
    answers: tuple[str, ...],
    seeds: int | None,
    write_digests: bool,
    losses: bool,
    watch: bool,
    poll: bool,
    fresh: bool,
    quiet: bool,
    as_json: bool,
    lanes: int | None,
    workers: options.Workers,
) -> None:
    """Prove that checks are right: starters earn nothing, right answers pass, wrong ones fail."""
    say, details = Say(quiet=as_json), Say(quiet=quiet or as_json)
    details.meanwhile("Verifying ...")
    from grader.author.cases import SEEDS, exercises_with
    from grader.author.verify import WATCH_SEEDS, Prover, loss_lines, proof_data, proof_lines, unsaved_line
    from grader.course.answers import write_digest
    from grader.course.layout import refuse_student_folder, results_path
    from grader.grading.store import open_store
    from grader.report.progress_lines import NotesProgress, PacedProgress

    if answers and watch:
        raise CourseError("--watch runs what each save changed; leave out --answer")
    course, exercises = options.course_and_exercises(names, prints_broken=False)
    refuse_student_folder(course.root, "verify")
    if write_digests:
        say(*(f"wrote the digest of {exercise.id}" for exercise in exercises if write_digest(exercise)))
        course, exercises = options.course_and_exercises(names, prints_broken=False)
    if answers:
        answers = tuple(dict.fromkeys(name.removesuffix(".py") for name in answers))
        exercises = exercises_with(exercises, answers)
    setup = workers.setup()
    broken = [problem for item in options.broken_of(course, names) for problem in item.problems]
    if not names:
        broken += [problem for item in course.broken if not item.module for problem in item.problems]
    with open_store(results_path(course)) as store:
        again = fresh or as_json
        for exercise in exercises if again and not answers else ():
            store.forget(exercise.id, store.keys.judge_digest(exercise))
        if told := store.unsaved:  # at once: whoever interrupts the command must have read it
            say.prose(unsaved_line(told))
        prover = Prover(course, setup, store, seeds or SEEDS, NotesProgress(details), watch, answers, fresh=again)
        if watch:
            details("Watching; Ctrl-C ends.")
            prover.seeds = seeds or WATCH_SEEDS
            prover.watch([exercise.id for exercise in exercises] if names else [], say, poll=poll)
        prover.progress = PacedProgress(details)
        proofs = prover.verify(exercises, lanes)
    details()  # erases the line that showed the pace
    if losses:
        say("", *loss_lines(proofs), "")
    say(*proof_lines(proofs, broken, answers))
    if store.unsaved and not told:
        say.prose(unsaved_line(store.unsaved))
    if as_json:
        print_json(proof_data(proofs, broken, answers))
    sys.exit(1 if broken or any(proof.problems for proof in proofs) else 0)


@click.command("release")
@click.argument("dest", metavar="DEST", type=options.PATH)
@options.handin
@click.option("--zip", "zipped", is_flag=True, help="One file, DEST.zip, in place of a folder.")
@click.option("--notebooks", is_flag=True, help="With a notebook for each module.")
@click.option("-q", "--quiet", is_flag=True, help="Print only where the copy is.")
@options.course
@options.workers("none")
def release_command(
    dest: Path,
    handin: str | None,
    zipped: bool,
    notebooks: bool,
    quiet: bool,
    course_folder: Path | None,
    workers: options.Workers,
) -> None:
    """Write the students' copy of a course into DEST. It proves that the copy has no solutions and no hidden checks."""
    say = Say(quiet=quiet)
    say.meanwhile("Releasing ...")
    from grader.release.make import release
    from grader.report.progress_lines import ProgressLine

    course = options.course_here(course_folder, whole=True)
    chosen, setup = options.handin_of(course, handin), workers.setup()
    place = release(course, chosen, setup, dest, zipped=zipped, notebooks=notebooks, progress=ProgressLine(say))
    click.echo(str(place) if quiet else f"The copy is {place}")


@click.command("pages")
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
@click.argument("names", metavar="[EXERCISE]...", nargs=-1)
@click.option("--map-only", is_flag=True, help="Only the map, for which nothing is run.")
@options.workers()
def pages_command(folder: Path, names: tuple[str, ...], map_only: bool, workers: options.Workers) -> None:
    """Write pages about the course into DIR. One is a map; one for staff shows what students read of each mistake."""
    from grader.author.pages import map_page, messages_page
    from grader.course.topics import Coverage
    from grader.grading.runtime import Runtime

    course, exercises = options.course_and_exercises(names, whole=True)
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / MAP, map_page(course, Coverage.of(course)))
    if map_only:
        return
    Say().meanwhile("Running the known wrong answers ...")
    setup = workers.setup()
    with Runtime(exercises, setup) as runtime:
        _write(folder / MESSAGES, messages_page(course, exercises, setup, runtime))


def _write(path: Path, page: str) -> None:
    write_named(path, page, "pages")
    Say()(f"wrote {path.as_posix()}")
