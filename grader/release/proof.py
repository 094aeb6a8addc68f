"""The proof that a copy has nothing of staff's: canaries, and a search for parts of their files.

Files are compared without white space, so that the search finds a part however it is indented or wrapped. Which files
a copy has is decided elsewhere, by a list of what is copied (`make`).
"""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import yaml

from grader.course import layout
from grader.course.answers import code_of
from grader.grading.behaviour import is_sealed
from grader.model import Course, Exercise
from grader.model.errors import CourseError

_SHORTEST = 16
"""Characters of a part that the search looks for. A shorter one is an idiom: `return x + 1` gives nothing away."""
_SHORTEST_ALONE = 32
"""The same in files of other exercises, which use the same idioms, and of a line of a check or a wrong answer."""
_SHORTEST_BODY = 24
_EXCERPT = 48
_CANARY = re.compile(rb"canary[\W_]{1,4}([0-9A-Za-z][\w-]{7,})", re.IGNORECASE)
_OPENING = re.compile(r"(import|from|def|class|async|if __name__|with)\b|@")
"""How a line begins that says nothing without the lines after it."""
_MARKS = re.compile(r"^[\s#>|*+-]+")
"""What stands before a line of code in a comment, a quotation, a list or a table."""
_COMMENT = re.compile(r"#.*")


class LeakError(CourseError):
    """A copy has what only staff may have."""


class SecretKind(Enum):
    """The kind of a secret."""

    FUNCTION = "a function's body"
    LINE = "a line"
    INPUT = "an input"
    CANARY = "a canary"


class SecretSource(Enum):
    """The file that a secret comes from."""

    CHECK = "a hidden check"
    WRONG = "a wrong answer"
    SOLUTION = "a solution"


@dataclass(frozen=True)
class Secret:
    """Something that must not be in a copy.

    Attributes:
        text: without white space; of a canary as it is.
        kind: the kind of secret.
        source: the kind of file that it comes from.
        where: the file and line.
        exercise: the exercise that it belongs to; None for a file of no exercise.
    """

    text: str
    kind: SecretKind
    source: SecretSource
    where: str
    exercise: Exercise | None = None

    def is_leak(self, path: Path) -> bool:
        """Return whether a file of the copy must not contain this secret.

        A long function of a solution must stand in no file. An input, or a short text, may stand in the files of other
        exercises, since these use the same idioms. A line of a check may stand in any file of checks.
        """
        # Checks of both kinds, and of several exercises, call the same functions.
        of_checks = layout.is_check_or_probe(path.name) and self.source is not SecretSource.SOLUTION
        if self.kind is SecretKind.LINE and (
            of_checks or layout.is_description(path)
        ):  # the third hint is nearly the code
            return False
        if self.kind is SecretKind.INPUT:  # the same numbers may stand in the example of another exercise
            return self._is_same_exercise(path)
        return self._is_same_exercise(path) or (not of_checks and len(self.text) >= _SHORTEST_ALONE)

    def _is_same_exercise(self, path: Path) -> bool:
        """Return whether a file of the copy belongs to the secret's exercise.

        The page and the notebook of the exercise's module count, too.
        """
        if self.exercise is None:
            return False
        module, shown = self.exercise.module, layout.Places.of(self.exercise).shown
        return path in (layout.page_of(module), layout.notebook_of(module)) or path.parent == shown


def secrets_of(course: Course) -> Iterator[Secret]:
    """Yield the secrets in all files that only staff may have.

    Files of exercises that a copy does not have are searched, too.
    """
    owners = {course.root / layout.Places.of(exercise).staff: exercise for exercise in course.exercises}
    for path in layout.staff_files(course):
        exercise = next((owners[parent] for parent in path.parents if parent in owners), None)
        yield from _secrets_of_file(course.root, path, exercise)


def _secrets_of_file(root: Path, path: Path, exercise: Exercise | None) -> Iterator[Secret]:
    """Yield the secrets of a file that only staff may have.

    They are its canaries, marks such as `canary: 0a1b2c3d` that authors write into such files, and the parts of its
    text that students do not have anyway. A probe has only canaries.
    """
    data, shown_as, source = path.read_bytes(), path.relative_to(root).as_posix(), SecretSource.SOLUTION
    if exercise is not None and path == exercise.hidden_checks:
        source = SecretSource.CHECK
    elif exercise is not None and (path in exercise.wrong or path.name == layout.WRONG_FILE):
        source = SecretSource.WRONG
    for mark in _CANARY.finditer(data):
        line = data.count(b"\n", 0, mark.start()) + 1
        yield Secret(mark[1].decode("ascii"), SecretKind.CANARY, source, f"{shown_as}:{line}")
    if layout.is_probe(path):
        return  # it runs beside student code, which can read it, and contains no secret
    with contextlib.suppress(UnicodeDecodeError):  # a picture
        text, public = data.decode("utf-8"), _text_of_students(exercise, source)
        for line, kind, part in _searched_parts(text, source, is_python=path.suffix == ".py"):
            if part not in public:
                yield Secret(part, kind, source, f"{shown_as}:{line}", exercise)


def _text_of_students(exercise: Exercise | None, source: SecretSource) -> str:
    """Return the text of an exercise that students have anyway, without white space.

    It is the code of the starter, and the task unless `source` is a solution. Comments are left out: they do not count
    in the starter's digest, so they may have been added by mistake.

    Args:
        exercise: the exercise that the file belongs to; None for a file of no exercise.
        source: the kind of the file.
    """
    if exercise is None or not exercise.starter.is_file():
        return ""
    text, task = exercise.starter.read_bytes(), None
    with contextlib.suppress(SyntaxError, ValueError):  # fixing that may be the exercise
        task = ast.get_docstring(ast.parse(text)) if source is not SecretSource.SOLUTION else None
    return _remove_white_space(code_of(text) + (task or ""))


def _searched_parts(text: str, source: SecretSource, *, is_python: bool) -> Iterator[tuple[int, SecretKind, str]]:
    """Yield the parts of a staff file that a copy must not contain.

    They are lines, functions and, in checks, inputs. Each has the line number, the kind and the text without white
    space. Line 2 of a solution, `return x.unsqueeze(-1) + x`, is `(2, SecretKind.LINE, "returnx.unsqueeze(-1)+x")`.
    Lines and inputs that are too short to be recognized are left out.

    Args:
        text: the text of the file.
        source: the kind of the file.
        is_python: True if the file is Python; otherwise it has lines only.
    """
    tree = ast.Module([], [])
    with contextlib.suppress(SyntaxError, ValueError):
        tree = ast.parse(text) if is_python else tree
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    # Students read the title of a check in their reports.
    titles = {node.body[0].lineno for node in functions if node.decorator_list and ast.get_docstring(node) is not None}
    least = _SHORTEST if source is SecretSource.SOLUTION else _SHORTEST_ALONE
    for number, line in enumerate(text.splitlines(), 1):
        part = _remove_white_space(line.strip("\"' #"))
        says_something = re.search(r"\w", part)  # unlike a line of dashes above a section
        if says_something and len(part) >= least and number not in titles and not _OPENING.match(line.strip()):
            yield number, SecretKind.LINE, part
    lines = [_remove_white_space(_COMMENT.sub("", line)) for line in text.splitlines()]
    for function in functions:
        body = function.body[1 if ast.get_docstring(function) is not None else 0 :]
        part = "".join(lines[body[0].lineno - 1 : function.end_lineno]) if body else ""
        if len(part) < _SHORTEST_BODY:  # a short one with its name, since `return t[:n]` could be anywhere
            part = "".join(lines[function.lineno - 1 : function.end_lineno])
        yield function.lineno, SecretKind.FUNCTION, part
    for node in ast.walk(tree):
        if source is SecretSource.CHECK and isinstance(node, ast.List | ast.Tuple) and _looks_like_input(node):
            part = _remove_white_space(ast.get_source_segment(text, node) or "")
            if len(part) >= _SHORTEST:
                yield node.lineno, SecretKind.INPUT, part


def _looks_like_input(node: ast.List | ast.Tuple) -> bool:
    """Return whether a list or tuple may be an input of a check, such as `[[1, 2], [3, 4]]`.

    It contains only constants, and at least one number: `[x, 1]` and `["a"]` are left out.
    """
    leaves = [part for part in ast.walk(node) if not isinstance(part, ast.List | ast.Tuple | ast.expr_context)]
    plain = all(isinstance(part, ast.Constant | ast.UnaryOp | ast.unaryop) for part in leaves)
    return plain and any(isinstance(part, ast.Constant) and isinstance(part.value, int | float) for part in leaves)


def _remove_white_space(text: str) -> str:
    """Remove all white space from a text."""
    return "".join(text.split())


# -- the search


def prove_no_secret(files: Mapping[str, bytes], secrets: Sequence[Secret]) -> None:
    """Raise `LeakError` if a file of a copy has what students must not read.

    Args:
        files: the contents of the copy's files, by path.
        secrets: the texts that must not be in them.

    Raises:
        LeakError: a file has a secret, or a file of sealed mistakes has text that is not sealed; the error names each
            place.
    """
    problems = [
        f"{path}: this file must have sealed sentences and nothing else; make the copy again"
        for path in sorted(files)
        if Path(path).name == layout.MISTAKES and not is_sealed(files[path])
    ]
    if problems := problems + _leaks(files, secrets):
        raise LeakError(*problems)


def prove_no_secret_in_sentences(path: str, sentences: Sequence[str], secrets: Sequence[Secret]) -> None:
    """Raise `LeakError` if a sentence has a secret.

    Call this function before the sentences are encrypted. A line of a wrong answer may stand in a sentence.

    Args:
        path: the path of the file that will have them.
        sentences: the sentences, which are encrypted in this file.
        secrets: the texts that only staff may have.

    Raises:
        LeakError: a sentence has a secret other than a line of a wrong answer.
    """
    others = [secret for secret in secrets if (secret.kind, secret.source) != (SecretKind.LINE, SecretSource.WRONG)]
    if problems := _leaks({path: "\n".join(sentences).encode()}, others):
        raise LeakError(*(f"{problem}; students who make that mistake read this sentence" for problem in problems))


def _leaks(files: Mapping[str, bytes], secrets: Sequence[Secret]) -> list[str]:
    """Return a sentence for each line of the files that has a secret."""
    problems = [problem for path in sorted(files) for problem in _canary_leaks(path, files[path], secrets)]
    targets = {path: _texts_to_search(path, files[path]) for path in sorted(files)}
    # Nearly no secret is anywhere: one look into a set shows that, and only the others are searched for in each file.
    texts = [text for streams in targets.values() for text, _ in streams]
    starts = {text[at : at + _SHORTEST] for text in texts for at in range(len(text))}
    suspects = [each for each in secrets if each.kind is not SecretKind.CANARY and each.text[:_SHORTEST] in starts]
    for path, streams in targets.items():
        leaks: dict[int, str] = {}
        for secret in (secret for secret in suspects if secret.is_leak(Path(path))):
            if line := next((at[text.find(secret.text)] for text, at in streams if secret.text in text), 0):
                excerpt = f"{secret.kind.value} of {secret.source.value} stands here: {secret.text[:_EXCERPT]}"
                leaks.setdefault(line, f"{path}:{line}: {excerpt} ({secret.where}); remove it here, or change it there")
        problems += leaks.values()
    return problems


def _canary_leaks(path: str, data: bytes, secrets: Sequence[Secret]) -> Iterator[str]:
    for secret in secrets:
        if secret.kind is SecretKind.CANARY and secret.text in path:
            yield f"{path}: its name has the canary of {secret.where}"
        elif secret.kind is SecretKind.CANARY and (at := data.find(secret.text.encode())) >= 0:
            line = data.count(b"\n", 0, at) + 1
            yield f"{path}:{line}: has the canary of {secret.where}"


_Stream = tuple[str, Sequence[int]]
"""A text without white space, and the number of the line of each of its characters."""


def _texts_to_search(path: str, data: bytes) -> list[_Stream]:
    """Return the forms of a file's text that are searched for secrets, without white space.

    The line `# y = 2  # two` is searched as `#y=2#two`, without the sign of the comment as `y=2#two`, and without
    comments as `y=2`. Signs of quotations, lists and tables are removed like that of a comment. The values in YAML and
    notebooks are a form of their own. Each form has the line number of each of its characters.
    """
    plain = list(enumerate(data.decode("utf-8", "replace").splitlines(), 1))
    quoted = [(number, _MARKS.sub("", line)) for number, line in plain]
    readings = [plain, quoted, [(number, _COMMENT.sub("", line)) for number, line in quoted]]
    if path.endswith((".yaml", layout.NOTEBOOK)):  # JSON is YAML
        # The texts as they are read: in the file they may be wrapped, and signs escaped.
        scalars = (each for each in yaml.scan(data, yaml.SafeLoader) if isinstance(each, yaml.ScalarToken))
        readings.append([(scalar.start_mark.line + 1, scalar.value) for scalar in scalars])
    lines = [[(number, _remove_white_space(line)) for number, line in reading] for reading in readings]
    return [("".join(text for _, text in rows), [number for number, text in rows for _ in text]) for rows in lines]
