"""Known answers: wrong ones, with the sentence that a student reads, and right variants.

A wrong answer is written as a difference. Its docstring is the sentence, and ends with lines for us:

    caught by: strides_of_views        the check that must catch it
    breaks: C1, C3                     all rules that it breaks by its nature, if that check's own is not the only one
    keeps: contiguous_strides, plain   what of the reference stays as it is, and is not written again

A sentence that begins with TODO is not written yet: no student reads it, and `grade verify` reports it.

The reference's docstring may have a line for us, too:

    odd but fine: detached             unusual answers of `grade verify` that no rule forbids

What it keeps is put below its own text, with the imports that this needs, so that what runs is a whole file, as a
student would have written it.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import re
import symtable
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.course.layout import SHARED
from grader.course.starter import is_untouched
from grader.model import Exercise, Submission
from grader.model.errors import CourseError

UNWRITTEN = "TODO"
"""What a sentence begins with that is still to be written."""

_LINE = re.compile(r"^(?P<key>caught by|breaks|odd but fine|keeps):[ \t]*(?P<words>\S.*?)[ \t]*$", re.MULTILINE)


@dataclass(frozen=True)
class Answer:
    """One known answer.

    Attributes:
        path: its file.
        source: the whole of it, with what it keeps of the reference.
        sentence: what a student reads whose submission behaves like it; "" if none is written.
        caught_by: the check that must catch it, or "".
        breaks: the rules that it says it breaks, besides that check's own.
        fine: of a reference: the unusual answers that no rule forbids.
    """

    path: Path
    source: bytes
    sentence: str
    caught_by: str
    breaks: tuple[str, ...] = ()
    fine: tuple[str, ...] = ()


def public_text(source: str) -> str:
    """The text of an answer without the lines for us."""
    first = ast.parse(source).body[0]
    doc = ast.get_docstring(ast.parse(source))
    if doc is None:
        return source
    doc = _LINE.sub("", doc).strip()
    rest = source.split("\n")[first.end_lineno :]
    return "\n".join([*([f'"""{doc}"""'] if doc else []), *rest]).lstrip("\n")


def as_submitted(exercise: Exercise, source: bytes) -> dict[str, bytes]:
    """The files of a known answer as if it were handed in: with staff's shared code, if it names that."""
    shared = exercise.shared if SHARED.encode() in source else {}
    return {exercise.file_name: source, **{name: path.read_bytes() for name, path in shared.items()}}


def read_answer(exercise: Exercise, path: Path) -> Answer:
    """Read a known answer of an exercise.

    Raises:
        CourseError: what it keeps is not in the reference, or it writes that itself, or it lacks another name.
    """
    source = path.read_bytes()
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return Answer(path, source, "", "")  # a file that does not load may be an answer, but says nothing
    doc = ast.get_docstring(tree) or ""
    lines = [*_LINE.finditer(doc)]
    words = {line["key"]: [word.strip() for word in line["words"].split(",")] for line in reversed(lines)}
    if names := words.get("keeps"):
        source = source.rstrip() + b"\n" + "".join(_from_reference(exercise, path, tree, names)).encode()
        # A NameError is caught by any check, so it would look like the mistake that is meant.
        if unknown := sorted(_undefined(source.decode())):
            raise CourseError(f"{path.name}: keeps: nothing is called {', '.join(unknown)}; keep it too, or write it")
    # The lines for us come last; the sentence is what stands above the first of them.
    sentence = doc[: lines[0].start() if lines else len(doc)].strip()
    return Answer(
        path,
        source,
        sentence="" if sentence.startswith(UNWRITTEN) else sentence,
        caught_by=words.get("caught by", [""])[0],
        breaks=tuple(words.get("breaks", ())),
        fine=tuple(words.get("odd but fine", ())),
    )


def _from_reference(exercise: Exercise, path: Path, tree: ast.Module, names: list[str]) -> Iterator[str]:
    """The imports that the kept names need, then the text of each in the reference."""
    if exercise.reference is None:
        raise CourseError(f"{path.name}: keeps: there is no reference to keep anything of")
    text = exercise.reference.read_text(encoding="utf-8")
    reference = ast.parse(text)
    theirs, own = dict(_definitions(reference)), dict(_definitions(tree))
    for name in names:
        if name not in theirs:
            raise CourseError(f"{path.name}: keeps: the reference has no {name}; it has {', '.join(theirs)}")
        if name in own:
            raise CourseError(f"{path.name}: keeps: it writes {name} itself; remove one of the two")
    used = {part.id for name in names for part in ast.walk(theirs[name]) if isinstance(part, ast.Name)}
    needed = used - dict(_imports(tree)).keys()
    if imports := [line for name, line in _imports(reference) if name in needed]:
        yield "\n" + "".join(f"{line}\n" for line in imports)
    for node in (theirs[name] for name in names):
        # A decorator belongs to its function, and stands above the line that Python gives it.
        first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", []))])
        yield "\n\n" + "\n".join(text.splitlines()[first - 1 : node.end_lineno]) + "\n"


def _imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The names that a module imports at its top level, each with a statement that does it."""
    for node in tree.body:
        match node:
            case ast.Import(names=names):
                made: list[ast.stmt] = [ast.Import([alias]) for alias in names]
            case ast.ImportFrom(module=module, names=names, level=level) if module != "__future__":
                made = [ast.ImportFrom(module, [alias], level) for alias in names]
            case _:
                continue
        for alias, statement in zip(names, made, strict=True):
            yield alias.asname or alias.name.split(".")[0], ast.unparse(statement)


def _undefined(source: str) -> set[str]:
    """The names that a file uses and that nothing in it gives a meaning to."""
    tables = [symtable.symtable(source, "answer", "exec")]
    used, given = set[str](), {"__file__", *vars(builtins)}
    while tables:
        table = tables.pop()
        tables += table.get_children()
        for symbol in table.get_symbols():
            if symbol.is_global() and symbol.is_referenced():
                used.add(symbol.get_name())
            if (table.get_type() == "module" or symbol.is_global()) and (symbol.is_assigned() or symbol.is_imported()):
                given.add(symbol.get_name())
    return used - given


def _definitions(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    """The names that a module defines at its top level, with their statements."""
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name, node
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield name, node


def submission_of(author: str, exercise: Exercise, path: Path, files: Mapping[str, bytes]) -> Submission:
    """The files of one exercise as if they had been handed in; no stranger wrote them."""
    source = files[exercise.file_name]
    untouched = frozenset([exercise.id] if is_untouched(exercise, source, path) else [])
    digest = hashlib.sha256(source).hexdigest()
    return Submission(author, {exercise.id: files}, {exercise.id: path}, {}, digest, untouched=untouched)
