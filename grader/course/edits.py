"""Small changes of a course's YAML files: a void check, an extension.

A change is put in at the place that YAML's own parser names, so that comments and the layout of all other lines stay.
The new text is then parsed: if it says anything but the old one with that change, it is refused.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from grader.course.files import CourseFile, ExerciseFile, parse_yaml, to_datetime, validate
from grader.course.layout import COURSE_FILE, Places
from grader.course.load import handins_of
from grader.model import Course, Exercise, HandIn
from grader.model.errors import CourseError
from grader.model.files import failing_as, write_whole

_WIDE = 1 << 20
"""No line that is put in is broken."""


@dataclass(frozen=True)
class FileEdit:
    """A change of a file that is not written yet.

    Attributes:
        path: the path of the file.
        shown_as: the path in messages.
        before: the content as it was read.
        after: the content after the change.
        course: the course after the change.
    """

    path: Path
    shown_as: str
    before: bytes
    after: bytes
    course: Course


def edit_to_void(course: Course, exercise: Exercise, check: str) -> FileEdit:
    """Return the edit of exercise.yaml that makes a check void.

    Everybody who handed in an answer then gets the points of the check.

    Args:
        course: the course.
        exercise: the exercise that the check belongs to.
        check: its id; without parameters, it makes all cases of a parametrized check void.

    Raises:
        CourseError: the file cannot be read or changed, or the check is void already.
    """
    shown_as = Places.of(exercise).description.as_posix()
    path, before = _read(course.root / shown_as)
    data = parse_yaml(before, shown_as)
    wanted = copy.deepcopy(data)
    wanted["void"] = [*(data.get("void") or []), check]
    if check in (data.get("void") or []):
        raise CourseError(f"{shown_as}: void: {check} is void already")
    text = _decode(before, shown_as)
    root = _root_mapping(text, shown_as)
    void = _value_of_key(root, "void")
    by_hand = f"write  void: [{', '.join(wanted['void'])}]  into it by hand"
    if void is None:
        end = "" if not text or text.endswith("\n") else _end_of_lines(text)
        changed = f"{text}{end}{_yaml_entry('void', [check])}{_end_of_lines(text)}" if not root.flow_style else text
    elif isinstance(void, yaml.SequenceNode):
        changed = _append_item(text, void, check)
    else:
        changed = text
    after = _checked_content(changed, text, wanted, shown_as, by_hand)
    validate(parse_yaml(after, shown_as), shown_as, ExerciseFile)
    return FileEdit(path, shown_as, before, after, _with_void(course, exercise, (*exercise.void, check)))


def edit_to_unvoid(course: Course, exercise: Exercise, check: str) -> FileEdit:
    """Return the edit of exercise.yaml that makes a void check count again.

    Args:
        course: the course.
        exercise: the exercise that the check belongs to.
        check: its id, as it is written in `void`.

    Raises:
        CourseError: the file cannot be read or changed, or the check is not void.
    """
    shown_as = Places.of(exercise).description.as_posix()
    path, before = _read(course.root / shown_as)
    data = parse_yaml(before, shown_as)
    rest = [one for one in data.get("void") or [] if one != check]
    if rest == list(data.get("void") or []):
        raise CourseError(f"{shown_as}: void: {check} is not void")
    wanted = {**data, "void": rest} if rest else {key: value for key, value in data.items() if key != "void"}
    text = _decode(before, shown_as)
    after = _checked_content(
        _without_void(text, shown_as, check), text, wanted, shown_as, f"remove {check} from  void:  by hand"
    )
    validate(parse_yaml(after, shown_as), shown_as, ExerciseFile)
    return FileEdit(path, shown_as, before, after, _with_void(course, exercise, tuple(rest)))


def _with_void(course: Course, exercise: Exercise, void: tuple[str, ...]) -> Course:
    """Return the course in which these checks of an exercise are void."""
    new = replace(exercise, void=void)
    modules = tuple(
        replace(module, exercises=tuple(new if one.id == exercise.id else one for one in module.exercises))
        for module in course.modules
    )
    return replace(course, modules=modules)


def edit_to_extend(course: Course, handin: HandIn, author: str, until: str, is_same: Callable[[str], bool]) -> FileEdit:
    """Return the edit of course.yaml that sets an author's own due date for a hand-in.

    An earlier due date of the author is replaced.

    Args:
        course: the course.
        handin: the hand-in.
        author: the author who gets more time.
        until: a date or a time, such as 2026-10-08 18:00.
        is_same: a function that returns whether a name in the file means this author.

    Raises:
        CourseError: the file cannot be read or changed, or `until` is not a date.
    """
    until = until.strip().replace("T", " ")
    try:
        to_datetime(until)
    except ValueError as error:
        raise CourseError(f"the extension: {error}") from None
    path, before = _read(course.root / COURSE_FILE)
    data = parse_yaml(before, COURSE_FILE)
    wanted = copy.deepcopy(data)
    entry = next((one for one in wanted.get("handins", []) if one["id"] == handin.id), None)
    if entry is None:
        raise CourseError(f"{COURSE_FILE}: handins: there is no {handin.id} any more; open this page again")
    own = [name for name in entry.get("extensions") or {} if is_same(str(name))]
    if len(own) > 1:
        names = " and ".join(str(name) for name in own)
        raise CourseError(f"{COURSE_FILE}: handins.{handin.id}.extensions: {names} are the same; remove one of the two")
    key = own[0] if own else author
    entry["extensions"] = {**(entry.get("extensions") or {}), key: until}
    text = _decode(before, COURSE_FILE)
    changed = _with_extension(text, handin.id, key, until, is_new=not own)
    by_hand = f"write  {author}: {until}  below  extensions:  of {handin.id} by hand"
    after = _checked_content(changed, text, wanted, COURSE_FILE, by_hand)
    problems = list[str]()
    handins = handins_of(validate(parse_yaml(after, COURSE_FILE), COURSE_FILE, CourseFile), problems)
    if problems:
        raise CourseError(*problems)
    return FileEdit(path, COURSE_FILE, before, after, replace(course, handins=handins))


def write_edit(edit: FileEdit) -> None:
    """Write an edit to its file, unless somebody else changed the file after it was read.

    Raises:
        CourseError: somebody changed the file meanwhile, or it cannot be written.
    """
    with failing_as(f"{edit.path} cannot be written"):
        if edit.path.read_bytes() != edit.before:
            raise CourseError(
                f"{edit.shown_as} was changed since this was shown; nothing was saved. Look at the new state, then "
                "save again"
            )
        mode = edit.path.stat().st_mode
        write_whole(edit.path, edit.after)
        edit.path.chmod(mode)


# -- the text


def _read(path: Path) -> tuple[Path, bytes]:
    path = path.resolve()  # a link stays one
    with failing_as(f"{path} cannot be read"):
        return path, path.read_bytes()


def _decode(content: bytes, shown_as: str) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise CourseError(f"{shown_as} is not UTF-8; save it as UTF-8") from None


def _root_mapping(text: str, shown_as: str) -> yaml.MappingNode:
    root = yaml.compose(text, yaml.SafeLoader)
    if not isinstance(root, yaml.MappingNode):
        raise CourseError(f"{shown_as}: must be a mapping of keys to values")
    return root


def _value_of_key(mapping: yaml.MappingNode, key: str) -> yaml.Node | None:
    return next((value for name, value in mapping.value if name.value == key), None)


def _end_of_lines(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _yaml_entry(key: Any, value: Any) -> str:
    """Return a key with its value as one line of YAML.

    The key "void" with the value `["shape"]` becomes `void: [shape]`.
    """
    flow = False if isinstance(value, str) else None
    return yaml.safe_dump({key: value}, default_flow_style=flow, allow_unicode=True, width=_WIDE).strip()


def _items_in_brackets(value: Any) -> str:
    """Return the items of a list or a mapping as YAML writes them between brackets or braces.

    `["a", "b"]` becomes `a, b`, and `{"ada": "2026-10-08"}` becomes `ada: '2026-10-08'`.
    """
    return yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=_WIDE).strip()[1:-1]


def _append_in_brackets(text: str, node: yaml.CollectionNode, added: str) -> str:
    """Return a YAML text with an item added at the end of a collection in brackets or braces.

    The item `b` makes `void: [a, b]` of `void: [a]`.
    """
    place = node.end_mark.index - 1
    head = text[:place].rstrip()
    comma = "" if not node.value else " " if head.endswith(",") else ", "
    return f"{head}{comma}{added}{text[len(head) :]}"


def _insert_line_below(text: str, node: yaml.Node, added: str, column: int) -> str:
    """Return the text with a new line below the line on which a scalar ends.

    The new line is indented to a column.
    """
    end = text.find("\n", node.end_mark.index)
    start = len(text) if end < 0 else end + 1
    before = text[:start] + ("" if end >= 0 else _end_of_lines(text))
    return f"{before}{' ' * column}{added}{_end_of_lines(text)}{text[start:]}"


def _append_item(text: str, node: yaml.SequenceNode, item: str) -> str:
    if node.flow_style or not node.value:
        return _append_in_brackets(text, node, _items_in_brackets([item]))
    return _insert_line_below(text, node.value[-1], f"- {_items_in_brackets([item])}", node.start_mark.column)


def _without_void(text: str, shown_as: str, item: str) -> str:
    """Return the text of exercise.yaml in which a check is removed from `void`.

    Without `a`, `void: [a, b]` becomes `void: [b]`, and the line `void: [a]` is removed. If the check is not found, the
    text is unchanged.
    """
    root = _root_mapping(text, shown_as)
    found = next(((key, value) for key, value in root.value if key.value == "void"), None)
    if found is None or not isinstance(found[1], yaml.SequenceNode) or root.flow_style:
        return text
    key, node = found
    items = node.value
    at = next((number for number, one in enumerate(items) if one.value == item), None)
    if at is None:
        return text
    if len(items) == 1:
        # The end of a block is where the next key begins: what stands between is somebody's comment.
        end = node.end_mark if node.flow_style else items[0].end_mark
        return _without_lines(text, key.start_mark.index, end.index)
    if not node.flow_style:
        return _without_lines(text, items[at].start_mark.index, items[at].end_mark.index)
    if at + 1 < len(items):
        return text[: items[at].start_mark.index] + text[items[at + 1].start_mark.index :]
    return text[: items[at - 1].end_mark.index] + text[items[at].end_mark.index :]


def _without_lines(text: str, start: int, end: int) -> str:
    """Return the text without the lines that contain the characters from `start` to `end`."""
    first, last = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    return text[:first] + ("" if last < 0 else text[last + 1 :])


def _with_extension(text: str, handin: str, key: Any, until: str, *, is_new: bool) -> str:
    """Return the text of course.yaml with an author's extension added or replaced.

    For the hand-in h1, the key `ada` and the date 2026-10-08, the entry with `id: h1` gets the line
    `extensions: {ada: '2026-10-08'}`. The text is unchanged if no place for it is found.

    Args:
        text: the text of course.yaml.
        handin: the id of the hand-in.
        key: the key of the author in `extensions`.
        until: the due date of the author.
        is_new: True if the author has no extension yet; otherwise its date is replaced.
    """
    handins = _value_of_key(_root_mapping(text, COURSE_FILE), "handins")
    entries = handins.value if isinstance(handins, yaml.SequenceNode) else []
    for entry in entries:
        if not isinstance(entry, yaml.MappingNode) or getattr(_value_of_key(entry, "id"), "value", None) != handin:
            continue
        own = _value_of_key(entry, "extensions")
        if isinstance(own, yaml.MappingNode) and not is_new:
            date = next(value for name, value in own.value if name.value == str(key))
            return text[: date.start_mark.index] + _items_in_brackets([until]) + text[date.end_mark.index :]
        if isinstance(own, yaml.MappingNode) and (own.flow_style or not own.value):
            return _append_in_brackets(text, own, _items_in_brackets({key: until}))
        if isinstance(own, yaml.MappingNode):
            return _insert_line_below(text, own.value[-1][1], _yaml_entry(key, until), own.start_mark.column)
        if own is None and entry.flow_style:
            return _append_in_brackets(text, entry, f"extensions: {{{_items_in_brackets({key: until})}}}")
        if own is None:
            last = _value_of_key(entry, "due") or _value_of_key(entry, "id")
            assert last is not None
            return _insert_line_below(text, last, _yaml_entry("extensions", {key: until}), entry.start_mark.column)
    return text


def _checked_content(changed: str, text: str, wanted: dict[Any, Any], shown_as: str, by_hand: str) -> bytes:
    """Return the changed text as bytes, if YAML reads exactly the wanted data from it.

    Args:
        changed: the text after the change.
        text: the text before the change.
        wanted: the data that the new text must have.
        shown_as: the file's path in messages.
        by_hand: the sentence on how to make the change by hand, for the error.

    Raises:
        CourseError: YAML reads something else, or the text was not changed.
    """
    after = changed.encode("utf-8")
    if changed != text:
        try:
            if parse_yaml(after, shown_as) == wanted:
                return after
        except CourseError:  # what was put in does not fit there
            pass
    raise CourseError(f"{shown_as} is laid out so that it cannot be changed here; {by_hand}")
