"""The exercises of a module as a notebook: each task, the cell to work in, the cell that checks it.

It is written here as JSON, in version 4.5 of the format: the same byte for byte each time.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from grader.course.layout import ASSISTANTS_PAGE, notebook_of, page_of
from grader.model import Course, Exercise, Module
from grader.model.score import points_text

_MARKS = re.compile(r"[\\*_<>\[\]$#|~]")
_CODE = re.compile(r"(`[^`]*`)")

Cell = dict[str, Any]


def notebooks_of(part: Course, requires: str) -> dict[str, bytes]:
    """The notebooks of a course, by their paths."""
    return {notebook_of(module.id).as_posix(): _notebook(part, module, requires) for module in part.modules}


def _notebook(part: Course, module: Module, requires: str) -> bytes:
    cells = [*_beginning(part, module, requires), *(cell for item in module.exercises for cell in _exercise(item))]
    metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    data = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return (json.dumps(data, indent=1, ensure_ascii=False, sort_keys=True) + "\n").encode()


def _beginning(part: Course, module: Module, requires: str) -> Iterator[Cell]:
    page = page_of(module.id)
    about = ""
    if (part.root / page).is_file():
        about = f" [What you need to know](../{page.as_posix()}) stands on a page."
    yield _text(
        "start",
        f"# {_escaped(module.title)}\n\n"
        f"From *{_escaped(part.title)}*.{about} Run the next cell first. Then, for each exercise, write into its cell, "
        "run it, and run the check below.\n\n"
        "Cells that begin with `# exercise: NAME` are what is checked; you may add more of them. In all other cells "
        "you are free to try things. If a program helps you to write code, let it read "
        f"`{ASSISTANTS_PAGE.name}` first.",
    )
    yield _code(
        "setup",
        f"# Where the grader is not installed yet, as on Colab, run this line without its #:\n"
        f'# %pip install "{requires}"\n'
        "from grader.notebook import check",
    )


def _exercise(exercise: Exercise) -> Iterator[Cell]:
    task, code = _parts(exercise.starter.read_text(encoding="utf-8"))
    heading = f"## {exercise.number} {_escaped(exercise.title)}\n\n{points_text(exercise.points)} points"
    yield _text(f"{exercise.id}-task", "\n\n".join([heading, *_paragraphs(task)]))
    yield _code(f"{exercise.id}-code", f"# exercise: {exercise.id}\n{code}")
    yield _code(f"{exercise.id}-check", f'check("{exercise.id}")')


def _parts(source: str) -> tuple[str, str]:
    """The task of a starter, without its title, and its code. If that is not Python, all of it."""
    tree = ast.Module([], [])
    with suppress(SyntaxError):
        tree = ast.parse(source)
    task = ast.get_docstring(tree)
    if task is None:
        return "", source.strip("\n")
    after = source.splitlines()[tree.body[0].end_lineno :]
    return task.partition("\n")[2].strip("\n"), "\n".join(after).strip("\n")


def _paragraphs(task: str) -> Iterator[str]:
    """A docstring as Markdown: numbered rules as a list, what is indented as code."""
    for block in re.split(r"\n{2,}", task):
        if all(line.startswith("    ") for line in block.split("\n")):
            yield "```\n" + re.sub(r"(?m)^ {4}", "", block) + "\n```"
        else:
            text = re.sub(r"(?m)^(C\d+) {2}", r"- **\1** ", _escaped(block))
            text = re.sub(r"(?m)^ +", "  ", text)
            # What follows a list is no part of it.
            yield re.sub(r"(?m)^((?:- |  ).*\n)(?!- |  )", r"\1\n", text)


def _escaped(text: str) -> str:
    """Prose that Markdown shows as it is; what stands in ticks is code there, too."""
    parts = _CODE.split(text)
    return "".join(part if part.startswith("`") else _MARKS.sub(r"\\\g<0>", part) for part in parts)


def _text(id: str, source: str) -> Cell:
    # An id as the format requires it: letters, digits, - and _, 64 at the most.
    id = re.sub(r"[^A-Za-z0-9_-]", "-", id)[-64:]
    return {"cell_type": "markdown", "id": id, "metadata": {}, "source": source.splitlines(keepends=True)}


def _code(id: str, source: str) -> Cell:
    return {**_text(id, source), "cell_type": "code", "execution_count": None, "outputs": []}
