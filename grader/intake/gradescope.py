"""Gradescope: a folder for each submission, and a file that says whose each is; a group has several authors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from grader.intake.handed import Handed, Item, Layout, Part, Taken, Unmatched
from grader.model import Exercise
from grader.model.errors import SubmissionError

METADATA = ("submission_metadata.yml", "submission_metadata.yaml")
_FOLDER = "submission_"


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # in C where there is one
    """Reads YAML that Ruby wrote: its symbols stay texts, and its objects are what they hold."""


def _plain(loader: Any, suffix: str, node: yaml.Node) -> Any:
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return loader.construct_scalar(node)


_Loader.add_multi_constructor("!ruby/", _plain)


def _fits(items: Sequence[Item]) -> bool:
    return any(item.name in METADATA for item in items)


def _read(items: Sequence[Item], exercises: Sequence[Exercise]) -> Taken:
    told = _metadata(next((item.path for item in items if item.name in METADATA), None))
    handed: dict[str, tuple[str, str, tuple[str, ...]]] = {}  # when, in which folder, whose
    unmatched = []
    folders = {item.name: item for item in items if item.is_folder}
    unnamed = [
        item.name for item in items if item.name not in METADATA and item.name not in folders.keys() & told.keys()
    ]
    unmatched += [Unmatched(name, "", "submission_metadata.yml does not name it") for name in unnamed]
    for name, row in told.items():
        people = [_person(person) for person in row.get("submitters") or []]
        authors = tuple(sorted({person for person in people if person})) or (name,)
        key, when = "+".join(authors), str(row.get("created_at", ""))
        if key in handed and when < handed[key][0]:
            unmatched.append(Unmatched(name, key, "an earlier attempt; the latest counts"))
            continue
        if key in handed:
            unmatched.append(Unmatched(handed[key][1], key, "an earlier attempt; the latest counts"))
        handed[key] = when, name, authors
    parts = {name: (Part(folder.path),) for name, folder in folders.items()}
    # Of whom nothing lies here, there is a row all the same.
    unmatched += [
        Unmatched(name, key, "it is not in the export") for key, (_, name, _) in handed.items() if name not in parts
    ]
    return [Handed(key, authors, parts.get(name, ())) for key, (_, name, authors) in handed.items()], unmatched


def _metadata(path: Path | None) -> dict[str, dict[str, Any]]:
    """What is told of each folder, with the colons of Ruby's symbols taken off the keys that are asked for."""
    if path is None:
        raise SubmissionError(f"there is no {METADATA[0]} here, which says whose each submission is; download it too")
    try:
        told = yaml.load(path.read_bytes(), Loader=_Loader)  # noqa: S506  a safe loader
    except (yaml.YAMLError, RecursionError, ValueError, OSError) as error:
        raise SubmissionError(f"{path} cannot be read: {' '.join(str(error).split())}; download it again") from None
    if not isinstance(told, dict):
        raise SubmissionError(f"{path} does not say whose the submissions are; download it again")
    return {str(name).lstrip(":"): _symbols(row) for name, row in told.items() if isinstance(row, dict)}


def _symbols(row: dict[Any, Any]) -> dict[str, Any]:
    return {str(key).lstrip(":"): value for key, value in row.items()}


def _person(told: Any) -> str:
    """What tells a person from all others, the likeliest to be unique first."""
    known = _symbols(told) if isinstance(told, dict) else {}
    return next((str(known[key]).strip() for key in ("email", "sid", "name") if known.get(key)), "")


GRADESCOPE = Layout("gradescope", "a Gradescope export", _fits, _read)
