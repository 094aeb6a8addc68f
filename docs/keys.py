"""Pages of the reference that list keys: of course.yaml, exercise.yaml, other YAML files, and the report.

They are made of the JSON Schemas by which the files are validated, so a key cannot be missing. An extension of Sphinx.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from pydantic import BaseModel
from sphinx.application import Sphinx

from grader.course import files
from grader.model.files import schema_of
from grader.report.schema import ReportFile

Schema = Mapping[str, Any]

FILES: dict[str, type] = {
    "course.yaml": files.CourseFile,
    "exercise.yaml": files.ExerciseFile,
    "topics.yaml, for each topic": files.TopicEntry,
    "wrong.yaml, for each wrong answer": files.WrongEntry,
    "right.yaml, for each right answer": files.RightEntry,
    "drill.yaml": files.DrillFile,
    "report.json": ReportFile,
}


def schema(name: str) -> Schema:
    """Return the JSON Schema of a file that authors write, or that programs read."""
    kind = FILES[name]
    if issubclass(kind, BaseModel):
        return kind.model_json_schema()
    return schema_of(kind)


def tables(whole: Schema, name: str) -> Iterator[tuple[str, str, list[tuple[str, str, str]]]]:
    """Yield each mapping of a schema: its title, its sentence, and key, type and default of each of its keys."""
    for title, one in [(name, whole), *whole.get("$defs", {}).items()]:
        if "properties" not in one:
            continue
        required = set(one.get("required", ()))
        rows = [
            (key, described(value), "required" if key in required else shown(value.get("default")))
            for key, value in one["properties"].items()
        ]
        yield title, " ".join(str(one.get("description", "")).split("\n\n")[0].split()), rows


def described(value: Schema) -> str:
    """Return what values a key takes, in words."""
    if "$ref" in value:
        return str(value["$ref"].rpartition("/")[2])
    for joined in ("anyOf", "oneOf", "allOf"):
        if joined in value:
            return " or ".join(dict.fromkeys(described(part) for part in value[joined]))
    if "enum" in value or "const" in value:
        return ", ".join(str(one) for one in value.get("enum", [value.get("const")]))
    kind = value.get("type", "any value")
    if kind == "array":
        inner = value.get("items") or (value.get("prefixItems") or [{}])[0]
        return f"list of: {described(inner)}"
    if kind == "object" and isinstance(value.get("additionalProperties"), Mapping):
        return f"mapping of names to: {described(value['additionalProperties'])}"
    words = {"minimum": "at least", "maximum": "at most", "exclusiveMinimum": "greater than", "pattern": "matching"}
    limits = [f"{word} {value[key]}" for key, word in words.items() if key in value]
    return ", ".join([str(kind), *limits])


def shown(default: object) -> str:
    """Return a default as it stands in the page."""
    return "" if default is None or default in ([], {}, "") else str(default)


class Keys(Directive):
    """`keys` with the name of a file: a table for each mapping in it."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Return the tables."""
        name = self.arguments[0]
        return [_section(*table, name) for table in tables(schema(name), name)]


def _section(title: str, sentence: str, rows: list[tuple[str, str, str]], file: str) -> nodes.Node:
    section = nodes.section(ids=[nodes.make_id(f"{file} {title}")], names=[f"{file} {title}"])
    section += nodes.title(text=title)
    if sentence:
        section += nodes.paragraph(text=sentence)
    table, group = nodes.table(), nodes.tgroup(cols=3)
    group += [nodes.colspec(colwidth=width) for width in (22, 54, 24)]
    head, body = nodes.thead(), nodes.tbody()
    head += _row([nodes.Text(word) for word in ("key", "value", "default")])
    body += [_row([nodes.literal(text=key), nodes.Text(kind), nodes.Text(default)]) for key, kind, default in rows]
    group += [head, body]
    table += group
    section += table
    return section


def _row(cells: list[nodes.Node]) -> nodes.row:
    row = nodes.row()
    for cell in cells:
        entry, paragraph = nodes.entry(), nodes.paragraph()
        paragraph += cell
        entry += paragraph
        row += entry
    return row


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive."""
    app.add_directive("keys", Keys)
    return {"parallel_read_safe": True}
