"""Reading a YAML file against what may stand in it; each problem is a sentence with file, key, and a suggestion."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

File = TypeVar("File", bound=BaseModel)


# Written in C it takes a seventh of the time, which a student waits for; not every PyYAML has it.
_Safe: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Safe):  # type: ignore[misc]
    """YAML as everyone reads it, but a key that stands twice is an error."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        # YAML takes the last of two equal keys in silence, so a line that somebody wrote would do nothing.
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.MarkedYAMLError(problem=f"the key {key!r} stands twice", problem_mark=node.start_mark)
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        return mapping


def read_yaml(path: Path, shown_as: str, problems: list[str]) -> dict[Any, Any] | None:
    """A file as a mapping; None where it is none, with the problem added."""
    try:
        # Bytes, so that YAML finds out the encoding and tells of a wrong one as of any other problem.
        data = yaml.load(path.read_bytes(), _Loader)  # noqa: S506  a subclass of the safe loader
    except OSError as error:
        problems.append(f"{shown_as}: cannot be read ({error.strerror})")
        return None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" line {mark.line + 1}" if mark else ""
        problems.append(f"{shown_as}:{line} is not valid YAML: {getattr(error, 'problem', error)}")
        return None
    if not isinstance(data, dict):
        problems.append(f"{shown_as}: must be a mapping of keys to values")
        return None
    return data


def read_file(path: Path, shown_as: str, kind: type[File], problems: list[str]) -> File | None:
    """A file as its schema says; None where there are problems, which are added."""
    data = read_yaml(path, shown_as, problems)
    if data is None:
        return None
    try:
        return kind.model_validate(data)
    except ValidationError as invalid:
        problems.extend(f"{shown_as}: {_sentence(item, kind)}" for item in invalid.errors())
        return None


def _sentence(item: Any, kind: type[BaseModel]) -> str:
    """One problem that the validator found, as key and sentence."""
    where = ".".join(str(part) for part in item["loc"])
    if item["type"] == "extra_forbidden":
        known = _known_keys(kind, item["loc"][:-1])
        return f"{where}: unknown key{suggestion(str(item['loc'][-1]), known)}"
    if item["type"] == "missing":
        return f"{where}: this key is missing"
    return f"{where}: {item['msg'][0].lower()}{item['msg'][1:]} (it is {item['input']!r})"


def _known_keys(kind: type[BaseModel], location: tuple[Any, ...]) -> list[str]:
    for part in location:
        if isinstance(part, int):
            continue
        # A file whose keys are free has one field, which says what stands below each of them.
        annotation: Any = (kind.model_fields.get(part) or kind.model_fields["root"]).annotation
        # A key may be optional or a list; what is looked for is the schema inside.
        inner = [annotation, *getattr(annotation, "__args__", ())]
        inner += [arg for item in inner for arg in getattr(item, "__args__", ())]
        found = [item for item in inner if isinstance(item, type) and issubclass(item, BaseModel)]
        if not found:
            return []
        kind = found[0]
    return list(kind.model_fields)


def suggestion(name: str, known: list[str]) -> str:
    """What to add to a sentence about a name that is not known."""
    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]}?" if near else (f"; known are {', '.join(known)}" if known else "")
