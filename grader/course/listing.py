"""course.yaml with one exercise more: put in by position, so that comments, order and spacing stay as they are.

YAML itself tells the positions, and the new text is read back before anybody writes it.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import yaml

from grader.course.layout import COURSE_FILE
from grader.model.errors import CourseError


def with_exercise(text: str, module: str, title: str, id: str) -> str:
    """The text of course.yaml with an exercise at the end of its module, which is made if it is new.

    Args:
        text: of a valid course.yaml.
        module: the folder of the module.
        title: of the module, if it is new.
        id: of the exercise.

    Raises:
        CourseError: it cannot be put in without changing something else.
    """
    root = yaml.compose(text, yaml.SafeLoader)
    modules = _value(root, "modules")
    wanted = copy.deepcopy(yaml.safe_load(text))
    known = [entry["folder"] for entry in wanted["modules"]]
    if module in known:
        names = _value(modules.value[known.index(module)], "exercises")
        where = f"the exercises of {module}"
        wanted["modules"][known.index(module)]["exercises"].append(id)
        new = _added(text, names, [as_yaml(id)], as_yaml(id))
    else:
        where = "modules"
        entry = {"folder": module, "title": title, "exercises": [id]}
        wanted["modules"].append(entry)
        rows = [f"folder: {as_yaml(module)}", f"title: {as_yaml(title)}", f"exercises: [{as_yaml(id)}]"]
        new = _added(text, modules, rows, f"{{{', '.join(rows)}}}")
    if _read(new) != wanted:
        raise CourseError(f"{COURSE_FILE}: {id} could not be added to {where}; add it there by hand, then again")
    return new


def _read(text: str) -> Any:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return None


def _value(node: Any, key: str) -> Any:
    return next(value for name, value in node.value if name.value == key)


def _added(text: str, names: Any, rows: list[str], inline: str) -> str:
    """The text with one item more at the end of a sequence.

    Args:
        text: all of it.
        names: the sequence.
        rows: the item in lines, for one that stands below its key.
        inline: the item for one between brackets.
    """
    end = "\r\n" if "\r\n" in text else "\n"
    if not names.flow_style:
        # Behind the line of the last item, so that its comment stays with it; in the column of the other dashes.
        place = _line_end(text, _last(names))
        dash = " " * names.start_mark.column
        lines = [f"{dash}{'  ' if number else '- '}{row}" for number, row in enumerate(rows)]
        before = "" if text[:place].endswith("\n") else end
        return f"{text[:place]}{before}{end.join(lines)}{end}{text[place:]}"
    if names.value:
        place = names.value[-1].end_mark.index
        return f"{text[:place]}, {inline}{text[place:]}"
    start, stop = names.start_mark.index, names.end_mark.index
    if len(rows) == 1:
        return f"{text[:start]}[{inline}]{text[stop:]}"
    # An empty list of modules becomes one of lines, as people write it.
    lines = [f"  {'  ' if number else '- '}{row}" for number, row in enumerate(rows)]
    return f"{text[:start].rstrip(' ')}{end}{end.join(lines)}{text[stop:]}"


def _last(node: Any) -> int:
    """Where the last thing that is written in a node ends: the node itself may go on over comments and blank lines."""
    return max((end for end in _ends(node)), default=node.end_mark.index)


def _ends(node: Any) -> Iterator[int]:
    if isinstance(node, yaml.ScalarNode) or node.flow_style:
        yield node.end_mark.index
        return
    for part in node.value:
        for inner in part if isinstance(part, tuple) else (part,):
            yield from _ends(inner)


def _line_end(text: str, place: int) -> int:
    """The beginning of the next line."""
    found = text.find("\n", place)
    return len(text) if found < 0 else found + 1


def as_yaml(word: str) -> str:
    """A word as YAML reads it back: `on`, `no` and `123` need quotes."""
    return word if yaml.safe_load(word) == word else json.dumps(word)
