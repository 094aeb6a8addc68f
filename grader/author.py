"""`grade new`: lays out a course or an exercise that passes `grade verify`, except for what its author must write."""

from __future__ import annotations

import json
import re
from pathlib import Path
from textwrap import dedent

from grader.course import COURSE_FILE, load_course, schemas, write_digest
from grader.errors import CourseError

_NAME = re.compile(r"[a-z0-9][a-z0-9_]*")
_SCHEMAS = ".schemas"


def new_course(root: Path) -> list[Path]:
    """Lay out a course without exercises.

    Raises:
        CourseError: there is a course already.
    """
    if (root / COURSE_FILE).exists():
        raise CourseError(f"{root / COURSE_FILE} exists; a course is not written over")
    title = root.resolve().name.replace("_", " ").capitalize()
    files = {
        root / COURSE_FILE: _COURSE.format(title=json.dumps(title)),
        root / "exercises" / "topics.yaml": _TOPICS,
        root / ".gitignore": ".grade/\n__pycache__/\n",
    }
    return [*_write(files), *write_schemas(root / _SCHEMAS)]


def new_exercise(root: Path, name: str) -> list[Path]:
    """Lay out an exercise and list it in course.yaml.

    Args:
        root: the course.
        name: "module/exercise"; the module is made if it is new.

    Raises:
        CourseError: the name is not usable, or the exercise exists.
    """
    module, _, id = name.partition("/")
    if not _NAME.fullmatch(module) or not _NAME.fullmatch(id):
        raise CourseError(f"{name!r} is not MODULE/EXERCISE in lower case, such as 02_memory/predict_strides")
    course = load_course(root)
    if id in [exercise.id for exercise in course.exercises] or (root / "exercises" / module / id).exists():
        raise CourseError(f"the exercise {id} exists; choose another name, an id is unique in the course")
    _list_in_course(root / COURSE_FILE, module, id, known=[item.id for item in course.modules])
    title = id.replace("_", " ").capitalize()
    numbers = [exercise.number for exercise in course.exercises]
    fill = {"id": id, "title": title, "number": _next_number(module, numbers), "up": "../../../"}
    shown, staff = root / "exercises" / module / id, root / "solutions" / module / id
    readme = root / "exercises" / module / "README.md"
    files = {
        shown / f"{id}.py": _STARTER,
        shown / f"check_{id}.py": _SHOWN_CHECKS,
        shown / "exercise.yaml": _EXERCISE,
        staff / f"{id}.py": _REFERENCE,
        staff / f"check_{id}.py": _HIDDEN_CHECKS,
        staff / "wrong" / "changes_argument.py": _WRONG_ARGUMENT,
        staff / "wrong" / "makes_floats.py": _WRONG_DTYPE,
        staff / "right" / "adds_twice.py": _RIGHT,
    }
    filled = {path: _fill(text, fill) for path, text in files.items()}
    if not readme.exists():
        filled[readme] = f"# {module}\n\nTODO: one screen of prose that this module's exercises need.\n"
    written = _write(filled)
    if not (root / _SCHEMAS).is_dir():
        written += write_schemas(root / _SCHEMAS)
    for exercise in load_course(root).exercises:
        if exercise.id == id:
            write_digest(exercise)
    return written


def write_schemas(folder: Path) -> list[Path]:
    """Write the JSON Schemas of course.yaml and exercise.yaml, for editors that check while one types."""
    return _write({folder / name: json.dumps(schema, indent=2) + "\n" for name, schema in schemas().items()})


def _write(files: dict[Path, str]) -> list[Path]:
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return list(files)


def _fill(text: str, words: dict[str, str]) -> str:
    for word, value in words.items():
        text = text.replace(f"@{word}@", value)
    return text


def _next_number(module: str, numbers: list[str]) -> str:
    digits = re.match(r"[0-9]{1,2}", module)
    used = {int(number.split("-")[0]) for number in numbers}
    chapter = f"{int(digits[0]):02}" if digits else f"{max(used, default=0) + 1:02}"
    taken = [int(number.split("-")[1]) for number in numbers if number.startswith(f"{chapter}-")]
    return f"{chapter}-{max(taken, default=0) + 1}"


def _list_in_course(path: Path, module: str, id: str, known: list[str]) -> None:
    """Add one line, or one name to a line; comments and everything else stay as they are."""
    text = path.read_text(encoding="utf-8")
    if module not in known:
        title = re.sub(r"^[0-9]+_", "", module).replace("_", " ").capitalize()
        entry = f"  - folder: {module}\n    title: {title}\n    exercises: [{id}]\n"
        found = re.search(r"^modules:[^\n]*\n((?:[ #-][^\n]*\n|\n)*)", text, re.MULTILINE)
        listed = found[1].rstrip("\n") + "\n" if found and found[1].strip() else ""
        new = text[: found.start()] + f"modules:\n{listed}{entry}" + text[found.end() :] if found else text
    else:
        inline = rf"(folder:\s*{module}\s*\n(?:\s+(?!exercises:)[^\n]*\n)*\s+exercises:\s*\[)([^\]]*)\]"
        new = re.sub(inline, lambda found: f"{found[1]}{_joined(found[2], id)}]", text, count=1)
    if new == text:
        raise CourseError(
            f"{path}: could not add the exercise; add {id} to the exercises of {module} by hand, then again"
        )
    path.write_text(new, encoding="utf-8")


def _joined(names: str, id: str) -> str:
    return f"{names.rstrip().rstrip(',')}, {id}" if names.strip() else id


_COURSE = dedent(
    """\
    # yaml-language-server: $schema=.schemas/course.schema.json
    title: {title}
    requires: tensorgrade>=0.1
    modules: []
    """
)

_TOPICS = dedent(
    """\
    # What the course teaches: an id and a short name. exercise.yaml and module pages name these ids.
    T1: Element-wise arithmetic
    """
)

_EXERCISE = dedent(
    """\
    # yaml-language-server: $schema=@up@.schemas/exercise.schema.json
    number: @number@
    title: @title@
    kind: implement
    difficulty: 1
    points: 10
    topics: [T1]
    hints:
      - "TODO: where to look"
      - "TODO: which rule applies"
      - "TODO: nearly the code"
    """
)

_STARTER = dedent(
    '''\
    """@title@

    TODO: write what is asked, in one or two sentences.

    C1  `double(x)` returns a new tensor with every element doubled.
    C2  The result has the dtype of x.
    """

    import torch


    def double(x: torch.Tensor) -> torch.Tensor:
        """Return 2 x."""
        raise NotImplementedError  # TODO
    '''
)

_SHOWN_CHECKS = dedent(
    '''\
    """Shown checks of @id@: students have this file. They use no reference."""

    import torch

    from grader.check import check, same_values


    @check("C1", share=1)
    def check_small(student):
        """Doubles three numbers"""
        same_values(student.double(torch.tensor([1.0, -2.0, 3.0])), torch.tensor([2.0, -4.0, 6.0]))
    '''
)

_HIDDEN_CHECKS = dedent(
    '''\
    """Hidden checks of @id@: every one names its contract line and gives something to try."""

    import torch

    from grader.check import check, same_dtype, same_values, unchanged


    @check("C1", share=2, try_this="double(torch.ones(2, 3))")
    def check_random(student, rng):
        """Doubles matrices"""
        x = rng.normal(rng.integer(2, 5), 3)
        same_values(student.double(x), x + x)


    @check("C1", category="memory", share=1, try_this="x = torch.ones(2); double(x); print(x)")
    def check_argument_kept(student, rng):
        """Leaves its argument alone"""
        x = rng.normal(4)
        with unchanged(x):
            student.double(x)


    @check("C2", category="dtype", share=1, try_this="double(torch.tensor([1])).dtype")
    def check_dtype(student):
        """Keeps integers integers"""
        same_dtype(student.double(torch.tensor([1, 2])), torch.int64)
    '''
)

_REFERENCE = dedent(
    '''\
    """The reference of @id@."""

    import torch


    def double(x: torch.Tensor) -> torch.Tensor:
        """Return 2 x."""
        return 2 * x
    '''
)

_RIGHT = dedent(
    '''\
    """Adds it to itself."""


    def double(x):
        return x + x
    '''
)

_WRONG_ARGUMENT = dedent(
    '''\
    """You changed the argument: `mul_` works in place. Make a new tensor.

    caught by: argument_kept
    """


    def double(x):
        return x.mul_(2)
    '''
)

_WRONG_DTYPE = dedent(
    '''\
    """You made the result a float: a float factor turns integers into floats.

    caught by: dtype
    """


    def double(x):
        return 2.0 * x
    '''
)
