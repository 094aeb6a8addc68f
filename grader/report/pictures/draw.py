"""A picture in one of its forms: lines of text, a sentence, an SVG."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

from grader.model.picture import Picture
from grader.report.pictures import cards, grid, moments, shapes, windows
from grader.report.pictures.drawing import Drawing


def lines_of(picture: Picture, width: int, drawing: Drawing) -> list[str]:
    """The lines of a picture, none wider than that; where pictures are told and not drawn, its sentence."""
    if drawing.plain:
        return [sentence_of(picture)]
    drawn = [line for form, facts in _parts(picture) for line in form.lines(*facts, width, drawing)]
    # A picture that is wider than the terminal is none: its lines would be broken.
    return drawn if all(len(line) <= width for line in drawn) else [sentence_of(picture)]


def sentence_of(picture: Picture) -> str:
    """What a picture shows, in a sentence for each part."""
    return " ".join(form.sentence(*facts) for form, facts in _parts(picture))


def svgs_of(picture: Picture) -> list[str]:
    """An SVG for each part of a picture."""
    return [form.svg(*facts) for form, facts in _parts(picture)]


def _parts(picture: Picture) -> Iterator[tuple[ModuleType, tuple[Any, ...]]]:
    """The facts that there are, each with the module that draws them."""
    if picture.grid is not None:
        yield grid, (picture.grid,)
    if picture.windows:
        yield windows, (picture.windows,)
    if picture.shapes is not None:
        yield shapes, (picture.shapes,)
    if picture.cards:
        yield cards, (picture.cards,)
    if picture.moments:
        yield moments, (picture.moments, picture.left_out)
