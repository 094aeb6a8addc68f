"""What reading a course shows: stray files, starters, hints, contract lines, titles, code without effect. No run."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Container, Iterator, Sequence
from pathlib import Path

from grader.course.answers import lines_of, read_answer, starter_digest
from grader.course.files import parse_yaml
from grader.course.golf import count_operations
from grader.course.layout import TOPICS, Places, is_entry, released_files, stray_files
from grader.course.topics import Coverage, content_for_students
from grader.lint.lines import findings
from grader.lint.scope import imported_names
from grader.model import Check, Course, Exercise
from grader.model.errors import CourseError
from grader.model.score import is_void, pluralize
from grader.release.proof import LeakError, prove_no_secret, secrets_of

_DOCSTRING_LINES = 25
_CODE_LINES = 40
"""Of a starter with one function or class; each further one allows as many lines again."""
_LONGEST_LINE = 90
_FRAME = re.compile(r'^(?:E\s+)?(?:File "([^"]+)", line (\d+)|(\S+\.py):(\d+): )', re.MULTILINE)


def course_problems(course: Course, coverage: Coverage) -> list[str]:
    """Return a problem for each misplaced file of a course, and for each unknown topic.

    A misplaced file has no place in a course. The topics are those on module pages.
    """
    remedies = {True: "no check reads this file; move its fixtures into the check file, and remove it",
                False: "this file has no place in a course; remove it or fix its name"}  # fmt: skip
    stray = (f"{path}: {remedies[path.endswith('/conftest.py')]}" for path in stray_files(course))
    known = TOPICS.as_posix()
    unknown = (f"{page}: Topics: {id} is not in {known}; add it there or fix it here" for page, id in coverage.unknown)
    return [*stray, *unknown]


def leak_sentences(course: Course) -> Sequence[str]:
    """Return a sentence for each passage of a solution in a shown file.

    `grade release` refuses such files.
    """
    shown = {path.as_posix(): content_for_students(course.root, path) for path in released_files(course)
             if (course.root / path).is_file()}  # fmt: skip
    try:
        prove_no_secret(shown, tuple(secrets_of(course)))
    except LeakError as error:
        return error.problems
    return ()


def source_problems(exercise: Exercise) -> Iterator[str]:
    """Yield a sentence for each line of the check files that the linter reports.

    Such a line has no effect on student code, or is never graded.
    """
    solution = exercise.reference or exercise.starter
    known = solution.read_text(encoding="utf-8", errors="replace") if solution.is_file() else ""
    for place, path in _check_files(exercise).items():
        for finding in findings(path.read_text(encoding="utf-8", errors="replace"), known):
            yield f"{place.as_posix()}:{finding.line}: {finding}"


def text_problems(exercise: Exercise, checks: Sequence[Check], topics: Container[str]) -> Iterator[str]:
    """Yield every problem of an exercise that its files show before anything runs.

    Args:
        exercise: the exercise whose texts are read.
        checks: the checks as they were collected.
        topics: the names in the course's file of topics.
    """
    yield from _starter_problems(exercise)
    places = Places.of(exercise)
    where = places.description.as_posix()
    for topic in exercise.topics:
        if topic not in topics:
            yield f"{where}: topics: {topic} is not in {TOPICS.as_posix()}; add it there or fix it here"
    for number, hint in enumerate(exercise.hints, 1):
        if not hint.strip() or "TODO" in hint:
            yield f"{where}: hints: hint {number} is not written; write where to look, which rule, nearly the code"
    for path, what, place in (
        (exercise.hidden_checks, "hidden checks are", places.hidden_checks),
        (exercise.reference, "the reference is", places.reference),
        (exercise.shown_checks, "shown checks are", places.shown_checks),
    ):
        if path is None and not exercise.is_by_staff:
            yield f"{place.parent.as_posix()}: {what} missing; write {place.name}"
    for place, path in _check_files(exercise).items():
        collected = any(check.shown is (place == places.shown_checks) for check in checks)
        if not collected and _is_without_checks(path):
            kind = "shown" if place == places.shown_checks else "hidden"
            yield f"{place.as_posix()}: it has no {kind} check; write at least one function check_... with @check"
    yield from _par_problems(exercise)
    yield from _entries_never_run(exercise)
    names = {name for check in checks for name in (check.contract, check.id.split("[")[0])}
    for key in ("values", "caps"):
        for name in (name for name in getattr(exercise, key) if name not in names):
            yield f"{where}: {key}: there is no check or rule {name}; name a check without check_, or a rule"
    void = (name for name in exercise.void if not any(is_void(check.id, (name,)) for check in checks))
    yield from (f"{where}: void: there is no check {name}; name a check without check_" for name in void)
    yield from _check_problems(exercise, checks)
    yield from _shown_check_problems(exercise)


def collecting_problem(exercise: Exercise, problem: str) -> str:
    """Return a sentence on why the checks of an exercise cannot be collected.

    After the path of a file it says, for example, "its checks cannot be collected; fix them: line 12: x = y (NameError:
    name 'y' is not defined)".

    Args:
        exercise: the exercise.
        problem: the text of the error from pytest, with its traceback.
    """
    where, line = Places.of(exercise).shown.as_posix(), ""
    for one, first, two, second in _FRAME.findall(problem):
        for place, path in _check_files(exercise).items():
            if (one or two).replace("\\", "/").endswith(place.as_posix()):
                where, line = place.as_posix(), f" {numbered_line(path, int(first or second))}"
    last = problem.strip().split("\n")[-1].removeprefix("E ").strip()
    return f"{where}: its checks cannot be collected; fix them:{line} ({last})"


def numbered_line(path: Path, number: int) -> str:
    """Return a line of a check file with its number, such as "line 12: assert x"."""
    try:
        text = lines_of(path.read_text(encoding="utf-8"))[number - 1].strip()
    except (OSError, ValueError, IndexError):
        return f"line {number}"
    return f"line {number}: {text if len(text) <= _LONGEST_LINE else text[: _LONGEST_LINE - 3] + '...'}"


def functions_of(path: Path) -> set[str]:
    """Return the names of the functions at the top of a file; an empty set if it is not Python."""
    try:
        body = ast.parse(path.read_bytes()).body
    except (OSError, SyntaxError, ValueError):  # its author is at work
        return set()
    return {node.name for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def _is_without_checks(path: Path) -> bool:
    """Return whether a file is Python and has no function of a check."""
    try:
        ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):  # its author is at work
        return False
    return not any(name.startswith("check_") for name in functions_of(path))


def _check_files(exercise: Exercise) -> dict[Path, Path]:
    """Return the existing check files, by their paths from the course's root."""
    places = Places.of(exercise)
    files = {places.shown_checks: exercise.shown_checks, places.hidden_checks: exercise.hidden_checks}
    return {place: path for place, path in files.items() if path is not None}


def _starter_problems(exercise: Exercise) -> Iterator[str]:
    """Yield a sentence for each problem of a starter.

    It is a problem of the task, the size, the TODO marks, or the digest.
    """
    places = Places.of(exercise)
    where = places.starter.as_posix()
    if not exercise.starter.is_file():
        yield f"{where}: the starter is missing; write it"
        return
    text = exercise.starter.read_bytes()
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        yield f"{where}: line {error.lineno}: the starter is not valid Python; fix it"
        return
    doc = ast.get_docstring(tree, clean=False) or ""
    doc_lines = len(doc.strip().splitlines())  # the closing quotes stand on a line of their own
    code_lines = _written_lines(text.decode()) - _written_lines(doc)
    # One file may have many functions and variables to write, each with its points.
    defined = sum(map(_is_to_be_written, tree.body))
    most_doc, most_code = (max(1, defined) * most for most in (_DOCSTRING_LINES, _CODE_LINES))
    problems = {
        f"the docstring has {doc_lines} lines; shorten it to {most_doc}": doc_lines > most_doc,
        f"the code has {code_lines} lines; shorten it to {most_code}": code_lines > most_code,
        "the docstring states no rules; number them C1, C2, ..., each on a line of its own": not exercise.contract,
        "nothing is marked TODO; mark what a student is to write": not _has_todo(text.decode(), tree),
        "the docstring is not written; state the task and its rules": "TODO: write" in doc,
    }
    yield from (f"{where}: {problem}" for problem, holds in problems.items() if holds)
    if exercise.starter_digest != (digest := starter_digest(text)):
        how = f"write  starter: {digest}  or run  grade verify --write-digests"
        yield f"{places.description.as_posix()}: starter: the starter was changed; {how}"


def _is_to_be_written(node: ast.stmt) -> bool:
    """Return whether a statement of a starter is a function, a class, or a variable such as `x = None`."""
    match node:
        case ast.Assign(value=ast.Constant(value=None)):
            return True
    return isinstance(node, (ast.FunctionDef, ast.ClassDef))


def _par_problems(exercise: Exercise) -> Iterator[str]:
    """Yield a problem if `par` is not the number of operations in the shortest right answer of the course."""
    if exercise.par is None or exercise.reference is None:
        return
    counts = []
    for path in (exercise.reference, *exercise.right):
        try:
            counts.append(count_operations(read_answer(exercise, path).source))
        except (CourseError, SyntaxError, ValueError):
            return  # which is reported where the answer is run
    if exercise.par != (least := min(counts)):
        where = Places.of(exercise).description.as_posix()
        shortest = f"the shortest right answer here has {pluralize(least, 'operation')}"
        yield f"{where}: par: {shortest}; write that, or add a shorter one"


def _entries_never_run(exercise: Exercise) -> Iterator[str]:
    """Yield a problem for each entry of wrong.yaml or right.yaml that is never run.

    The key of such an entry is not a valid name of an answer.
    """
    places = Places.of(exercise)
    for place, known in ((places.wrong_entries, exercise.wrong), (places.right_entries, exercise.right)):
        path = exercise.reference.with_name(place.name) if exercise.reference else place
        if not path.is_file():
            continue
        try:
            keys = parse_yaml(path.read_bytes(), place.as_posix())
        except CourseError:
            continue  # which is reported where the answers are run
        read = {one.name for one in known if is_entry(one)}
        for key in (key for key in keys if str(key) not in read):
            what = "cannot be the name of an answer, so it is never run; use letters, digits and _, without quotes"
            yield f"{place.as_posix()}: {key}: this {what}"


def _has_todo(text: str, tree: ast.Module) -> bool:
    """Return whether a comment or a string of a starter has the word TODO.

    The docstring with the task does not count.
    """
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    task = tree.body[0].end_lineno if ast.get_docstring(tree) is not None else 0
    said = (token for token in tokens if token.type in (tokenize.COMMENT, tokenize.STRING))
    return any("TODO" in token.string for token in said if token.start[0] > (task or 0))


def _written_lines(text: str) -> int:
    return sum(1 for line in text.split("\n") if line.strip())


def _check_problems(exercise: Exercise, checks: Sequence[Check]) -> Iterator[str]:
    """Yield a sentence for each problem of the checks.

    It is a problem of their names, titles, rules, examples or shares.
    """
    places = Places.of(exercise)
    for check in checks:
        shown = check.shown and exercise.shown_checks is not None
        name = f"{(places.shown_checks if shown else places.hidden_checks).as_posix()}: check_{check.id}"
        if check.title.startswith("check_"):
            yield f"{name}: it has no docstring; write one, its first line is the title that students read"
        if check.contract and check.contract not in exercise.contract:
            known = ", ".join(exercise.contract) or "none"
            yield f"{name}: the contract line {check.contract} is not in the starter's docstring; known are {known}"
        if not check.shown and not check.contract:
            yield f'{name}: a hidden check must name the contract line it examines; write @check("C1", ...)'
        if not check.shown and not check.try_this:
            yield f'{name}: a hidden check must give an example; write @check(..., try_this="a call to try")'
    ids = [check.id for check in checks]
    for id in sorted({id for id in ids if ids.count(id) > 1}):
        where = places.hidden_checks.as_posix()
        yield f"{where}: check_{id}: a shown check has the same name; give each check its own name"
    for rule in exercise.contract if checks else ():
        if rule not in {check.contract for check in checks} | exercise.staff.keys():
            yield f"{places.starter.as_posix()}: no check examines the rule {rule}; write a check, or remove the rule"
    if checks and sum(check.share for check in checks) == 0:
        yield f"{places.shown.as_posix()}: all shares are 0, so that nothing is worth points; give a check share=1"


def _shown_check_problems(exercise: Exercise) -> Iterator[str]:
    """Yield a problem for each use of the reference or of staff's folder in shown checks."""
    if exercise.shown_checks is None:
        return
    places, text = Places.of(exercise), exercise.shown_checks.read_text(encoding="utf-8")
    where = places.shown_checks.as_posix()
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return  # a problem of collecting
    for node in ast.walk(tree):
        # By its argument: that is how a check gets the reference.
        if isinstance(node, ast.FunctionDef) and any(arg.arg == "reference" for arg in node.args.args):
            yield f"{where}: {node.name} uses the reference, which students do not have; state the result instead"
    staff = places.staff.parts[0]
    if any(_names_folder(node, staff) for node in ast.walk(tree)):
        yield f"{where}: it names {staff}/, which students do not have; remove it"


def _names_folder(node: ast.AST, folder: str) -> bool:
    """Return whether a node names a folder: in a string with a path, or in an import.

    The folder "staff" is named in "staff/double.py" and in `import staff.double`, but not in "ask the staff".
    """
    match node:
        case ast.Constant(value=str(text)):  # a word of prose stands between blanks
            return text == folder or (folder in re.split(r"[/\\]", text) and not re.search(r"\s", text))
        case ast.Import() | ast.ImportFrom():
            return any(module.split(".")[0] == folder for module, _ in imported_names(node).values())
    return False
