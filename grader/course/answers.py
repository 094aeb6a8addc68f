"""Known answers: wrong ones, each with its sentence for students, right variants, and the untouched starter.

A wrong answer that is a program of its own is a file. Its docstring is the sentence, and ends with lines for staff:

    caught by: strides_of_views    the check that must catch it
    breaks: C1, C3                 all rules that it breaks by its nature, if that check's own is not the only one

A sentence that begins with TODO is not written yet: no student reads it, and `grade verify` reports it.

A wrong answer that differs little from the reference is an entry in `wrong.yaml`:

    detached:
      says: You `detach` the answer, so no gradient gets from it back into the model.
      caught by: views
      replace:
        return out.squeeze(0): return out.detach().squeeze(0)

`replace` has texts of the reference, each of which stands there once, with what stands there instead. `code` has whole
definitions in place of the reference's of the same names. An entry of `right.yaml`, for other right answers, has the
same keys, but names no check and no rules.

The reference's docstring may have a line for staff, too:

    also right: detached             unusual answers of `grade verify` that no rule forbids
"""

from __future__ import annotations

import ast
import builtins
import functools
import hashlib
import io
import re
import symtable
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.course.files import RightEntry, WrongEntry, parse_yaml, validate
from grader.course.layout import EXERCISE_FILE, RIGHT_FILE, SHARED, is_entry
from grader.model import Exercise, Submission
from grader.model.errors import CourseError
from grader.model.report import ExerciseFiles

UNWRITTEN = "TODO"
"""What a sentence begins with that is still to be written."""

_LINE = re.compile(r"^(?P<key>caught by|breaks|also right):[ \t]*(?P<words>\S.*?)[ \t]*$", re.MULTILINE)


@dataclass(frozen=True)
class Answer:
    """One known answer.

    Attributes:
        path: its file.
        source: the whole of it.
        sentence: the text for a student whose submission behaves like a wrong one, or what a right one does; "" if none
            is written.
        caught_by: the check that must catch it, or "".
        breaks: the rules that it says it breaks, besides that check's own.
        fine: the unusual answers that no rule forbids; of a reference only.
    """

    path: Path
    source: bytes
    sentence: str
    caught_by: str
    breaks: tuple[str, ...] = ()
    fine: tuple[str, ...] = ()


def without_staff_lines(source: str) -> str:
    """Return a known answer's source without the lines for staff in its docstring.

    Such a line is `caught by: strides_of_views`.
    """
    first = ast.parse(source).body[0]
    doc = ast.get_docstring(ast.parse(source))
    if doc is None:
        return source
    doc = _LINE.sub("", doc).strip()
    rest = source.split("\n")[first.end_lineno :]
    return "\n".join([*([f'"""{doc}"""'] if doc else []), *rest]).lstrip("\n")


def as_submitted(exercise: Exercise, source: bytes) -> dict[str, bytes]:
    """Return a known answer as the files of a submission, by name, so that it can be graded.

    For the exercise `views` they are `{"views.py": source}`. If the source imports staff's shared code, the files of
    that are included, such as `shared/inputs.py`.
    """
    shared = exercise.shared if _imports(source, SHARED) else {}
    return {exercise.file_name: source, **{name: path.read_bytes() for name, path in shared.items()}}


def _imports(source: bytes, package: str) -> bool:
    """Return whether a Python source imports a package or a part of it.

    `from shared.inputs import rows` imports the package `shared`. The result is False if the source is not Python.
    """
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError):
        return False
    names = [one.name for node in nodes if isinstance(node, ast.Import) for one in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom) and not node.level]
    return any(name.split(".")[0] == package for name in names)


def wrong_files(exercise: Exercise) -> list[Path]:
    """Return the files that contain the wrong answers of an exercise, each file once.

    For the answers `wrong/a.py`, `wrong.yaml/b` and `wrong.yaml/c` they are `wrong/a.py` and `wrong.yaml`.
    """
    return list(dict.fromkeys(map(_file_of, exercise.wrong)))


def _file_of(path: Path) -> Path:
    return path.parent if is_entry(path) else path


def read_answer(exercise: Exercise, path: Path) -> Answer:
    """Read a known answer of an exercise: a file, or an entry of `wrong.yaml` or `right.yaml`.

    Raises:
        CourseError: the entry does not fit the reference.
    """
    reference = None
    if is_entry(path) and exercise.reference is not None:
        reference = exercise.reference.read_text(encoding="utf-8")
    return _parse_answer(path, _file_of(path).read_bytes(), reference)


# The diagnosis of each submission needs all wrong answers of an exercise: from equal texts, each is made once.
@functools.lru_cache(maxsize=4096)
def _parse_answer(path: Path, source: bytes, reference: str | None) -> Answer:
    """Return a known answer, with its sentence and its lines for staff.

    Args:
        path: the path of a program, or FILE/NAME for an entry of a YAML file.
        source: the content of the program or of the YAML file.
        reference: the text of the reference, which only an entry needs.
    """
    if is_entry(path):
        return _answer_of_entry(path, source, reference)
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return Answer(path, source, "", "")  # a file that does not load may be an answer, but says nothing
    doc = ast.get_docstring(tree) or ""
    lines = [*_LINE.finditer(doc)]
    words = {line["key"]: [word.strip() for word in line["words"].split(",")] for line in reversed(lines)}
    # The lines for staff come last; the sentence is what stands above the first of them.
    sentence = doc[: lines[0].start() if lines else len(doc)].strip()
    return Answer(
        path,
        source,
        sentence="" if sentence.startswith(UNWRITTEN) else sentence,
        caught_by=words.get("caught by", [""])[0],
        breaks=tuple(words.get("breaks", ())),
        fine=tuple(words.get("also right", ())),
    )


def _answer_of_entry(path: Path, content: bytes, reference: str | None) -> Answer:
    """Return the known answer that an entry describes as changes of the reference.

    The entry is one of `wrong.yaml` or `right.yaml`.

    Args:
        path: the path FILE/NAME of the entry.
        content: the content of the YAML file.
        reference: the text of the reference; None if the exercise lacks one.

    Raises:
        CourseError: the exercise lacks a reference, or the entry does not fit it.
    """
    file = path.parent.name
    where = f"{file}: {path.name}"
    entry = validate(_entries(content, file).get(path.name), where, RightEntry if file == RIGHT_FILE else WrongEntry)
    if reference is None:
        raise CourseError(f"{where}: there is no reference to change")
    text = reference
    # From the end, so that no text that is replaced moves another.
    for old, new in sorted(entry.replace.items(), key=lambda pair: -reference.find(pair[0])):
        if (count := reference.count(old)) != 1:
            raise CourseError(f"{where}: replace: the reference has {old!r} {count} times; it must be there once")
        place = reference.index(old)
        text = f"{text[:place]}{new}{text[place + len(old) :]}"
    try:
        text = _replace_definitions(text, entry.code)
        ast.parse(text)
    except SyntaxError as error:
        raise CourseError(f"{where}: it is not Python: {error}") from None
    # A NameError is caught by any check, so it would look like the mistake that is meant.
    if unknown := sorted(undefined_and_defined_names(text)[0]):
        raise CourseError(f"{where}: nothing is called {', '.join(unknown)}")
    caught_by, breaks = (entry.caught_by, tuple(entry.breaks)) if isinstance(entry, WrongEntry) else ("", ())
    return Answer(path, text.encode(), entry.says.strip(), caught_by, breaks)


_entries = functools.lru_cache(maxsize=64)(parse_yaml)


def _replace_definitions(text: str, code: str) -> str:
    """Return a module whose definitions are replaced by those of the same name in `code`.

    Other definitions in `code` are added at the end of the module, and imports above its first statement.
    """
    tree = ast.parse(code)
    for name, node in _definitions(tree):
        new, lines = lines_of(code)[first_line_number(node) - 1 : node.end_lineno], lines_of(text)
        new[-1] = new[-1].rstrip("\r\n") + "\n"
        if (old := dict(_definitions(ast.parse(text))).get(name)) is not None:
            lines[first_line_number(old) - 1 : old.end_lineno] = new
        else:
            lines += ["\n", "\n", *new]
        text = "".join(lines)
    # Imports of its own stand above the first statement that is neither the docstring nor of __future__.
    module = ast.parse(text)
    body = module.body[1:] if ast.get_docstring(module) is not None else module.body
    below = next(node for node in body if not (isinstance(node, ast.ImportFrom) and node.module == "__future__"))
    place, lines = first_line_number(below) - 1, lines_of(text)
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    return "".join([*lines[:place], *(f"{ast.unparse(one)}\n" for one in imports), *lines[place:]])


def lines_of(source: str) -> list[str]:
    """Return the lines of a source, each with its line end, divided as Python divides them.

    `str.splitlines` also ends a line at a form feed and at other characters that may stand in Python's source.
    """
    return [line.decode("utf-8", "surrogatepass") for line in source.encode("utf-8", "surrogatepass").splitlines(True)]


def first_line_number(node: ast.stmt) -> int:
    """Return the number of the line where a statement begins, decorators included."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def undefined_and_defined_names(source: str) -> tuple[set[str], set[str]]:
    """Return the names that a source uses and does not define, and those that it defines.

    For `import math` and `def f(x): return g(math.pi, x)`, they are `{"g"}` and `{"math", "f"}`. Names of builtins are
    not among the first, and local names are in neither set.

    Raises:
        SyntaxError: it is not Python.
    """
    tables = [symtable.symtable(source, "answer", "exec")]
    used, given = set[str](), set[str]()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        for symbol in table.get_symbols():
            if symbol.is_global() and symbol.is_referenced():
                used.add(symbol.get_name())
            if (table.get_type() == "module" or symbol.is_global()) and (symbol.is_assigned() or symbol.is_imported()):
                given.add(symbol.get_name())
    return used - given - {"__file__", *vars(builtins)}, given


@functools.lru_cache(maxsize=4096)
def changed_functions(source: bytes, reference: bytes, given: frozenset[str]) -> tuple[str, ...]:
    """Return the functions that a known answer defines differently from the reference.

    If the answer changes a helper that is not in `given`, the functions that call it are returned.

    Args:
        source: the answer.
        reference: the reference.
        given: the names of the exercise's functions and classes; no other name is returned.
    """
    try:
        mine, theirs = (dict(_definitions(ast.parse(text))) for text in (source, reference))
    except SyntaxError:
        return ()
    changed = {name for name, node in mine.items() if name not in theirs or ast.dump(node) != ast.dump(theirs[name])}
    changed |= theirs.keys() - mine.keys()
    uses = {name: {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} for name, node in mine.items()}
    while new := {name for name in uses.keys() - changed if uses[name] & (changed - given)}:
        changed |= new
    return tuple(name for name in mine if name in changed & given)


def _definitions(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    """Yield the name and the statement of each definition at the top level of a module.

    `def f(): ...`, `class f: ...` and `f = 1` all define `f`.
    """
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name, node
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield name, node


def submission_of(author: str, exercise: Exercise, path: Path, files: Mapping[str, bytes]) -> Submission:
    """Return a submission of one exercise that contains these files, such as a known answer's.

    Args:
        author: the author's name.
        exercise: the exercise that the files are of.
        path: the path that messages show for the exercise's module.
        files: their contents by name.
    """
    source = files[exercise.file_name]
    own = ExerciseFiles(files, path, untouched=is_starter(exercise, source))
    return Submission(author, {exercise.id: own}, hashlib.sha256(source).hexdigest())


# -- the starter, known by a digest of its code, which stands in exercise.yaml -----------------------------------------


def write_digest(exercise: Exercise) -> bool:
    """Write the current digest of the starter into exercise.yaml.

    Returns:
        True if that changed the file.
    """
    path = exercise.folder / EXERCISE_FILE
    text = path.read_bytes().decode("utf-8")  # with its line ends, which are somebody's choice
    new = with_digest(text, starter_digest(exercise.starter.read_bytes()))
    path.write_bytes(new.encode("utf-8"))
    return new != text


def with_digest(text: str, digest: str) -> str:
    """Return the text of an exercise.yaml with another digest of the starter."""
    line = f"starter: {digest}"
    new, count = re.subn(r"^starter:[^\r\n]*", line, text, flags=re.MULTILINE)
    if not count:
        end = "\r\n" if "\r\n" in text else "\n"
        new = f"{text.rstrip()}{end}{line}{end}"
    return new


def is_starter(exercise: Exercise, text: bytes) -> bool:
    """Return whether a file has the same code as the unchanged starter of an exercise.

    The digest in exercise.yaml decides, so comments and the module's docstring do not count.
    """
    return starter_digest(text) == exercise.starter_digest


@functools.lru_cache(maxsize=128)  # in a class most files are the same starters
def starter_digest(text: bytes) -> str:
    """Return a digest of the code of a file, by which an unchanged starter is recognized.

    It has 16 hexadecimal digits. Blank lines, comments, the module's docstring and line ends do not count, so a starter
    whose wording was corrected is still untouched for a student who has the older one. The text may be a hostile
    student's: it is cut into tokens and not parsed.
    """
    return hashlib.sha256(code_of(text).encode()).hexdigest()[:16]


def code_of(text: bytes) -> str:
    """Return the code of a file without blank lines, comments and the module's docstring.

    It is what the digest of a starter is computed from: a docstring, `x = 1  # one` and a blank line become `x = 1`. A
    file that Python cannot divide into tokens keeps its comments and its docstring.
    """
    plain = text.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
    try:
        lines = _code_lines(plain)
    except (SyntaxError, ValueError, tokenize.TokenError, MemoryError, RecursionError):
        lines = plain.split("\n")
    return "\n".join(line.rstrip() for line in lines if line.strip())


def _code_lines(source: str) -> list[str]:
    """Return the lines of a Python file without its comments and its docstring."""
    lines = source.split("\n")
    first: list[tokenize.TokenInfo] = []  # the first statement
    complete = False
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
        elif token.type == tokenize.NEWLINE:
            complete = True
        elif not complete and token.type != tokenize.NL:
            first.append(token)
    # The docstring is the task. Its wording may be corrected without making a student's file a submission.
    if first and all(token.type == tokenize.STRING for token in first):
        del lines[first[0].start[0] - 1 : first[-1].end[0]]
    return lines
