"""What of a course can be read: starters, hints, contract lines, titles. Nothing is run."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Sequence

from grader.course.layout import TOPICS, Places
from grader.course.starter import starter_digest
from grader.lint import findings
from grader.model import Check, Exercise

_DOCSTRING_LINES = 25
_CODE_LINES = 40


def source_problems(exercise: Exercise) -> Iterator[str]:
    """Each line of the check files that has no effect on student code, or is never graded."""
    places = Places.of(exercise)
    for place, path in ((places.shown_checks, exercise.shown_checks), (places.hidden_checks, exercise.hidden_checks)):
        for finding in findings(path.read_text(encoding="utf-8", errors="replace")) if path else ():
            yield f"{place.as_posix()}:{finding.line}: {finding}"


def text_problems(exercise: Exercise, checks: Sequence[Check], topics: Container[str]) -> Iterator[str]:
    """Every problem of an exercise that reading finds."""
    yield from _starter_problems(exercise)
    places = Places.of(exercise)
    where = places.description.as_posix()
    for topic in exercise.topics:
        if topic not in topics:
            yield f"{where}: topics: {topic} is not in {TOPICS.as_posix()}; add it there or mend it here"
    for number, hint in enumerate(exercise.hints, 1):
        if not hint.strip() or "TODO" in hint:
            yield f"{where}: hints: hint {number} is not written; write where to look, which rule, nearly the code"
    if exercise.hidden_checks is None:
        yield f"{places.staff.as_posix()}: there are no hidden checks; write {places.hidden_checks.name}"
    if exercise.reference is None:
        yield f"{places.staff.as_posix()}: there is no reference; write {places.reference.name}"
    if exercise.shown_checks is None:
        yield f"{places.shown.as_posix()}: there are no shown checks; write {places.shown_checks.name}"
    for rule in exercise.caps:
        if rule not in {check.contract for check in checks}:
            yield f"{where}: caps: no check examines a rule {rule}; name a rule of the task that has a check"
    for name in exercise.values:
        if name not in {name for check in checks for name in (check.contract, check.id.split("[")[0])}:
            yield f"{where}: values: there is no check or rule {name}; name a check without check_, or a rule"
    yield from _check_problems(exercise, checks)
    yield from _shown_check_problems(exercise)


def _starter_problems(exercise: Exercise) -> Iterator[str]:
    places = Places.of(exercise)
    where = places.starter.as_posix()
    if not exercise.starter.is_file():
        yield f"{where}: the starter is missing; write it"
        return
    text = exercise.starter.read_bytes()
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        yield f"{where}: line {error.lineno}: the starter is not valid Python; mend it"
        return
    doc = ast.get_docstring(tree, clean=False) or ""
    doc_lines = doc.count("\n") + 1 if doc else 0
    # Lines with something in them; of the file, without those of the docstring.
    code_lines = sum(1 for line in text.decode().split("\n") if line.strip()) - sum(
        1 for line in doc.split("\n") if line.strip()
    )
    if doc_lines > _DOCSTRING_LINES:
        yield f"{where}: the docstring has {doc_lines} lines; shorten it to {_DOCSTRING_LINES}"
    if code_lines > _CODE_LINES:
        yield f"{where}: the code has {code_lines} lines; shorten it to {_CODE_LINES}"
    if not exercise.contract:
        yield f"{where}: the docstring states no rules; number them C1, C2, ..., each on a line of its own"
    if b"TODO" not in text:
        yield f"{where}: nothing is marked TODO; mark what a student is to write"
    if "TODO: write" in doc:
        yield f"{where}: the docstring is not written; state the task and its rules"
    digest = starter_digest(text)
    if exercise.starter_digest != digest:
        yield (
            f"{places.description.as_posix()}: starter: the starter was changed; write  starter: {digest}  "
            "or run  grade verify --write-digests"
        )


def _check_problems(exercise: Exercise, checks: Sequence[Check]) -> Iterator[str]:
    places = Places.of(exercise)
    for check in checks:
        shown = check.shown and exercise.shown_checks is not None
        where = (places.shown_checks if shown else places.hidden_checks).as_posix()
        name = f"{where}: check_{check.id}"
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
        if rule not in {check.contract for check in checks}:
            yield f"{places.starter.as_posix()}: no check examines the rule {rule}; write a check, or remove the rule"
    if checks and sum(check.share for check in checks) == 0:
        yield f"{places.shown.as_posix()}: all shares are 0, so that nothing is worth points; give a check share=1"


def _shown_check_problems(exercise: Exercise) -> Iterator[str]:
    """What a student has must work without what only staff has."""
    if exercise.shown_checks is None:
        return
    text = exercise.shown_checks.read_text(encoding="utf-8")
    where = Places.of(exercise).shown_checks.as_posix()
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return  # told as a problem of collecting
    for node in ast.walk(tree):
        # By its argument: that is how a check asks for the reference.
        if isinstance(node, ast.FunctionDef) and any(arg.arg == "reference" for arg in node.args.args):
            yield f"{where}: {node.name} uses the reference, which students do not have; state what is asked instead"
    staff = Places.of(exercise).staff.parts[0]
    if staff in text:
        yield f"{where}: it names {staff}/, which students do not have; remove it"
