"""What the name and the text of a file say: its exercise, its version, what comes along with it, whether it is Python.

A name decides which exercise it is of, also one that somebody or something changed; where it says nothing, the contents
do. This is decided here for every platform's download. Strangers wrote the files, and nothing of them is run.
"""

from __future__ import annotations

import ast
import codecs
import functools
import io
import re
import tokenize
import unicodedata
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from grader.course.layout import is_check_or_probe
from grader.intake.archive import code_stem
from grader.model import Exercise, Place
from grader.model.unparsed import UNRESOLVED, carets, unresolved_merge_line

_LONGEST_NAME = 255
_MOST_MARKS = 4

_DOWNLOADED = re.compile(r"\s*\((\d{1,3})\)$")
"""What browsers add to a file that is there already: `a (1).py`."""
_NUMBERED = re.compile(r"(.+?)[-_ ](\d{1,3})")
"""What platforms add: `a-2.py`. The number may also be a group's: `a_group_2.py`."""
_COPY_OF = re.compile(r"copy[ _]of[ _](.+)", re.IGNORECASE)
_ATTEMPT = re.compile(r"(?:attempt|submission|version|try|v)?[ _-]*(\d{1,9})", re.IGNORECASE)
_IMPORTED = re.compile(rb"^[ \t]*(?:from[ \t]+\.*|import[ \t]+)([^#\n]+)", re.MULTILINE)
_WORD = re.compile(rb"[A-Za-z_]\w*")
_DEFINED = re.compile(r"^(?:async[ \t]+)?(?:def|class)[ \t]+([^\W\d]\w*)", re.MULTILINE)


class Version(NamedTuple):
    """The version that a file's name claims among several of one exercise; a greater one takes precedence.

    Attributes:
        final: 1 or more for `final`, -1 for `old`, else 0.
        number: the number in `v2` or `attempt 2`.
        copy: the number in `(2)` or `-2`; 1 for `copy`.
    """

    final: int = 0
    number: int = 0
    copy: int = 0


_PLAIN = Version()
_MARKS: Sequence[tuple[re.Pattern[str], Callable[[int], Version]]] = (
    (re.compile(r"(.+?)\s*\((\d{1,3})\)"), lambda number: Version(copy=number)),
    (re.compile(r"(.+?)[ _-]+(?:copy|kopie|copie|copia)()", re.IGNORECASE), lambda _: Version(copy=1)),
    (
        re.compile(r"(.+?)[-_ ]+(?:final|finished|finale|latest|newest)[-_ ]?(\d{0,3})", re.IGNORECASE),
        lambda number: Version(final=1 + number),
    ),
    (re.compile(r"(.+?)[-_ ]+(?:old|draft|backup|bak|orig|original)()", re.IGNORECASE), lambda _: Version(final=-1)),
    (
        re.compile(r"(.+?)[-_ ]*(?:v|ver|version|rev|attempt|try)[-_ .]?(\d{1,3})", re.IGNORECASE),
        lambda number: Version(number=number),
    ),
)
"""What a name may end with, and the version that it means."""


class Name(NamedTuple):
    """The facts that a file's name states.

    Attributes:
        exercise: the id of the exercise.
        version: the version, among several files of the exercise.
        owner: the owner that the name states: `ada_double` is ada's; or "".
    """

    exercise: str
    version: Version = _PLAIN
    owner: str = ""


def exercise_of_file_name(name: str, exercises: Sequence[Exercise]) -> Name | None:
    """Return the exercise, the version and the owner that a file name states.

    `ada_double_v2.py` returns `Name("double", Version(number=2), "ada")`. It is None if the file is not named after an
    exercise.
    """
    stem, _ = code_stem(name)
    return None if not stem or is_check_or_probe(name) or len(name) > _LONGEST_NAME else _parse_stem(stem, exercises)


def answer_name_test(exercises: Sequence[Exercise]) -> Callable[[str], bool]:
    """Return a fast test of file names: True for a file that is named after an exercise.

    For example, `double (1).py` is named after the exercise `double`.

    Args:
        exercises: the exercises of the course.
    """
    words = [_fold(word) for item in exercises for word in (item.id, item.number) if word]
    return lambda name: (
        any(word in _fold(name) for word in words) and exercise_of_file_name(name, exercises) is not None
    )


def without_download_number(stem: str) -> str:
    """Remove the number that a browser adds: `double (1)` becomes `double`.

    A number without brackets stays, as it may be a group's.
    """
    return _DOWNLOADED.sub("", stem)


def find_exercise(word: str, exercises: Sequence[Exercise]) -> str:
    """Return the id of the exercise with this id or number; "" without one.

    Case and the kind of separators do not matter: `One per-row` finds `one_per_row`.
    """
    folded = _fold(word)
    return next((item.id for item in exercises if folded in (_fold(item.id), _fold(item.number))), "")


def _parse_stem(stem: str, exercises: Sequence[Exercise], marks: int = _MOST_MARKS) -> Name | None:
    """Read the exercise, the version and the owner from a file name without its suffix.

    `ada_double_v2` returns `Name("double", Version(number=2), "ada")`. It is None if the name is not that of an
    exercise.

    Args:
        stem: the file name without its suffix.
        exercises: the exercises of the course.
        marks: the largest number of words such as `final`, `v2` or `(1)` to split off.
    """
    if id := find_exercise(stem, exercises):
        return Name(id)
    if marks and (copied := _COPY_OF.fullmatch(stem)):
        inner = _parse_stem(copied[1], exercises, marks - 1)
        return inner and inner._replace(version=inner.version._replace(copy=inner.version.copy + 1))
    folded = _fold(stem)
    if folded.startswith("test_"):  # a student's own tests
        return None
    ids = sorted((exercise.id for exercise in exercises), key=len, reverse=True)
    for id in ids:
        if folded.endswith(f"_{_fold(id)}"):
            return Name(id, owner=folded[: -len(_fold(id)) - 1])
    if marks and (marked := _split_version_mark(stem)) and (inner := _parse_stem(marked[0], exercises, marks - 1)):
        # Of each part what says more: `old` counts as much as `final`.
        pairs = zip(inner.version, marked[1], strict=True)
        return inner._replace(version=Version(*(max(pair, key=abs) for pair in pairs)))
    numbered = _NUMBERED.fullmatch(stem)
    inner = _parse_stem(numbered[1], exercises, marks - 1) if marks and numbered else None
    if numbered and inner and (not inner.owner or _fold(numbered[1]).endswith(f"_{_fold(inner.exercise)}")):
        copy = max(inner.version.copy, int(numbered[2]))
        return inner._replace(version=inner.version._replace(copy=copy))
    for id in ids:
        if folded.startswith(f"{_fold(id)}_"):
            number = int(numbered[2]) if numbered else 0  # double_group_3 is group_3's, or somebody's third
            return Name(id, Version(copy=number), folded[len(_fold(id)) + 1 :])
    return None


def _split_version_mark(stem: str) -> tuple[str, Version] | None:
    """Split off what marks a version at the end of a name, such as `final`, `v2` or `(2)`.

    `double_v2` returns `("double", Version(number=2))`. It is None without such a mark.
    """
    for pattern, version in _MARKS:
        if match := pattern.fullmatch(stem):
            return match[1], version(int(match[2] or 0))
    return None


@functools.lru_cache(maxsize=4096)
def _fold(name: str) -> str:
    plain = unicodedata.normalize("NFKC", name).casefold().strip()
    return re.sub(r"[\s_-]+", "_", plain)


@dataclass(frozen=True)
class TopLevelNames:
    """The names that a source binds at its top level.

    Attributes:
        defined: functions, classes, and names that are assigned.
        imported: names that imports bind.
        is_known: True if these are all: not of what is not Python, and of what imports `*`.
    """

    defined: frozenset[str] = frozenset()
    imported: frozenset[str] = frozenset()
    is_known: bool = False


@functools.lru_cache(maxsize=1024)  # of the files of one author, each is looked at for several reasons
def top_level_names(source: bytes) -> TopLevelNames:
    """Return the names that a source binds at its top level.

    If the source is not Python, they are those in lines like `def f`.
    """
    tree = _parse_or_none(source)
    if tree is None:
        return TopLevelNames(defined_names(source.decode("utf-8", "replace")))
    own, imported, todo = set[str](), set[str](), list[ast.stmt](tree.body)
    while todo:
        node = todo.pop()
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                own.add(name)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                imported |= {(alias.asname or alias.name).split(".")[0] for alias in names}
            case ast.Assign(targets=targets):
                own |= {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}
            case ast.AnnAssign(target=ast.Name(id=name)):
                own.add(name)
            case ast.If() | ast.Try() | ast.With():
                todo += [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.stmt)]
                todo += [part for each in getattr(node, "handlers", ()) for part in each.body]
    return TopLevelNames(frozenset(own), frozenset(imported), "*" not in imported)


def match_by_contents(source: bytes, exercises: Sequence[Exercise]) -> tuple[list[str], str]:
    """Return the exercises that a file answers, judged by the functions that it defines.

    A file answers an exercise if it defines all functions and classes of the starter. An exercise is left out if
    another one that the file answers has these functions and more. Of several with the same functions, only the one
    counts whose task the file begins with.

    Returns:
        The ids of the exercises, and ""; or an empty list, and the reason why the file answers none.
    """
    names = top_level_names(source).defined
    own = {item.id: starter_names(item) for item in exercises if starter_names(item) and starter_names(item) <= names}
    ids = [id for id in own if not any(own[id] < other for other in own.values())]
    sole = [id for id in ids if [own[other] for other in ids].count(own[id]) == 1]
    same = [id for id in ids if id not in sole]
    if same and (title := _title_of_task(source)):
        titled = [item.id for item in exercises if item.id in same and _title_in(item.starter) == title]
        sole, same = (sole + titled, []) if len(titled) == 1 else (sole, same)
    if sole:
        return [id for id in ids if id in sole], ""
    if same:
        return [], f"it could be of {' or '.join(same)}; name it after one of them"
    return [], "it has neither the name nor the functions of an exercise"


def _title_of_task(source: bytes) -> str:
    """Return the first line of a module's docstring.

    In a starter, this is the title of the task.
    """
    tree = _parse_or_none(source)
    return ((tree and ast.get_docstring(tree)) or "").split("\n")[0].strip()


@functools.cache
def _title_in(path: Path) -> str:
    return _title_of_task(path.read_bytes()) if path.is_file() else ""


def starter_names(exercise: Exercise) -> frozenset[str]:
    """Return the names of the functions and classes of an exercise's starter."""
    return _defined_in(exercise.starter)


def names_in_starter(exercise: Exercise) -> frozenset[str]:
    """Return all names that an exercise's starter defines at its top level.

    They are those of functions and classes, and those that it assigns.
    """
    return _assigned_in(exercise.starter) | starter_names(exercise)


def defined_names(source: str) -> frozenset[str]:
    """Return the names of the top-level functions and classes of a source.

    If the source is not Python, a search finds them.
    """
    tree = _parse_or_none(source)
    if tree is None:
        return frozenset(_DEFINED.findall(source))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return frozenset(node.name for node in tree.body if isinstance(node, kinds))


def _parse_or_none(source: str | bytes) -> ast.Module | None:
    """Return the syntax tree of a file; None if it is too large or not Python."""
    if len(source) > LARGEST:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a worker shows them
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            return None


@functools.cache
def _defined_in(path: Path) -> frozenset[str]:
    return defined_names(path.read_text("utf-8", "replace")) if path.is_file() else frozenset()


@functools.cache
def _assigned_in(path: Path) -> frozenset[str]:
    text = path.read_text("utf-8", "replace") if path.is_file() else ""
    if syntax_error(text):
        return frozenset()
    targets = [node for node in ast.parse(text).body if isinstance(node, ast.Assign | ast.AnnAssign)]
    return frozenset(
        part.id for node in targets for part in ast.walk(node) if isinstance(part, ast.Name) and _is_stored(part)
    )


def _is_stored(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def attempt_of(path: PurePosixPath) -> int:
    """Return the number of the attempt in the name of a folder in a path; 0 without one.

    It is 2 for `attempt_2/double.py`.
    """
    matches = [_ATTEMPT.fullmatch(part) for part in path.parts[:-1]]
    return max((int(match[1]) for match in matches if match), default=0)


def files_to_import(main: bytes, around: Mapping[PurePosixPath, bytes]) -> dict[str, bytes]:
    """Return the Python files that a module may import from its folder and the folders below.

    These are all files beside the module, and those in each subfolder that the module or a returned file imports. A
    subfolder that no file imports may be another exercise.

    Args:
        main: the source of the module.
        around: the other Python files in its folder and below, by their paths from there.

    Returns:
        The contents of the files by path, in the order of `around`.
    """
    taken = {path for path in around if len(path.parts) == 1}
    folders = {path.parts[0] for path in around if len(path.parts) > 1}
    texts = [main, *(around[path] for path in taken)]
    while texts and folders:
        imported = folders.intersection(_imported_packages(texts.pop()))
        folders -= imported
        new = [path for path in around if len(path.parts) > 1 and path.parts[0] in imported]
        taken.update(new)
        texts += [around[path] for path in new]
    return {path.as_posix(): data for path, data in around.items() if path in taken}


def _imported_packages(source: bytes) -> Iterator[str]:
    """Yield the top-level packages and modules that a file imports.

    `import torch.nn` and `from .util import f` yield `torch` and `util`. If the file is not Python, yield the words of
    lines that look like imports.
    """
    if (tree := _parse_or_none(source)) is None:
        for line in _IMPORTED.findall(source):
            yield from (word.decode("ascii") for word in _WORD.findall(line))
        return
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (one.name.split(".")[0] for one in names)
            case ast.ImportFrom(module=None, names=names):
                yield from (one.name for one in names)
            case ast.ImportFrom(module=str() as module):
                yield module.split(".")[0]


# -- whether it is Python, how it is saved, where things stand ---------------------------------------------------------

LARGEST = 1 << 18
"""What is longer counts as code, and a worker finds out."""
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_SEEN = 400


class _WithoutFinally(ast.NodeTransformer):
    """Moves each `finally` block behind its `try`, where it is compiled once.

    `compile` copies it for each way out of its `try`: twenty of them inside one another take minutes and gigabytes.
    """

    def visit_Try(self, node: ast.Try | ast.TryStar) -> list[ast.stmt]:
        """Return the statements that replace a `try` statement with a `finally` block.

        `try: a()` with `finally: b()` becomes `a()` and `b()`. If there is an `except`, the `try` stays, and the block
        follows it.
        """
        self.generic_visit(node)
        after, node.finalbody = node.finalbody, []
        return [*([node] if node.handlers else node.body), *after]

    visit_TryStar = visit_Try  # noqa: N815  Python's name


def syntax_error(source: bytes | str) -> SyntaxError | None:
    """Return the SyntaxError of a source, or None.

    None means that the source compiles, or that it cannot be compiled here: it is too large, or nested too deeply.
    """
    if len(source) > LARGEST:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a worker shows them
        try:
            tree = compile(source, "submission", "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
            compile(_WithoutFinally().visit(tree), "submission", "exec", dont_inherit=True)
        except SyntaxError as error:
            return error
        except (ValueError, MemoryError, RecursionError, OverflowError):
            return None
    return None


def compile_error_text(source: bytes, file_name: str, path: str) -> str:
    """Return the message of a worker about a file that does not compile; "" if it does.

    It begins like "your double.py does not load: SyntaxError: invalid syntax".

    Args:
        source: the source of the file.
        file_name: the file name that the exercise asks for.
        path: the path of the file that was handed in.
    """
    error = syntax_error(source)
    if error is None:
        return ""
    if line := unresolved_merge_line(source):
        return f"your {file_name} does not load: {UNRESOLVED}\n    {path}, line {line}"
    lines = [
        f"your {file_name} does not load: {type(error).__name__}: {error.msg}",
        f"    {path}, line {error.lineno or 1}",
    ]
    text = error.text
    if text is None and error.lineno:  # it was not the parser that stumbled
        text = next(iter(source.decode("utf-8", "replace").splitlines()[error.lineno - 1 :]), "")
    if text and text.strip():
        lines.append(f"        {text.strip()}")
        lines += carets(text.rstrip("\n"), error.offset or 0, error.end_offset or 0)
    return "\n".join(lines)


def module_place(source: bytes, path: str) -> Place:
    """Return where a module's functions are, so that a report can show a line of the file.

    An example is `Place("double.py", 4, {"double": 3})`: the path, the number of lines, and the line of each function
    and class at the top level.
    """
    # With a search and not with a parser: a file that is not Python has a place as well.
    lines = source.decode("utf-8", "replace").splitlines()
    matches = ((number, _DEFINED.match(line)) for number, line in enumerate(lines, 1))
    return Place(path, len(lines), {match[1]: number for number, match in matches if match})


def why_not_text(source: bytes) -> str:
    """Return why a file is not text that can be read as Python; "" if it may be.

    Only UTF-16 and UTF-32 are detected; for both it is "it is saved as UTF-16; save it as UTF-8".
    """
    start = source[:_SEEN]
    wide = len(start) > 3 and (not any(start[1::2]) or not any(start[::2])) and any(start)
    if start.startswith(_WIDE) or wide:
        return "it is saved as UTF-16; save it as UTF-8"
    return ""


def encoding_note(source: bytes, file_name: str) -> str:
    """Return a note if plain Python refuses a file because of its encoding; else ""."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
        source.decode(encoding)
    except (SyntaxError, UnicodeError, LookupError) as error:  # a LookupError of a codec that is not one of texts
        return f"plain Python refuses {file_name}, because of how it is saved ({error}); save it as UTF-8"
    return ""
