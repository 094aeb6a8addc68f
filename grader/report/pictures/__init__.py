"""Pictures of plain facts (`model.picture`): lines for terminals, a sentence for screen readers, SVG for pages.

tensors    values beside the expected ones, storages as boxes, shapes aligned at the right
counts     counts as bars
timeline   what host and devices did, in the order of time; also as a trace file
canvas     what they are drawn with: characters, and an SVG

Colours alone never carry information: what is wrong has a mark of its own as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from grader.model.picture import Picture
from grader.report.pictures.canvas import Drawing
from grader.report.pictures.counts import count_lines, count_sentence, count_svg
from grader.report.pictures.tensors import (
    grid_lines,
    grid_sentence,
    grid_svg,
    shape_lines,
    shape_sentence,
    shape_svg,
    window_lines,
    window_sentence,
    window_svg,
)
from grader.report.pictures.timeline import timeline_lines, timeline_sentence, timeline_svg

_Form = tuple[Callable[..., Iterator[str]], Callable[..., str], Callable[..., str], tuple[Any, ...]]
"""What draws one part as lines, as a sentence and as an SVG, and the facts of the part."""


def lines_of(picture: Picture, width: int, drawing: Drawing) -> list[str]:
    """The lines of a picture, none wider than that; its sentence where pictures are not drawn or do not fit."""
    if drawing.plain:
        return [sentence_of(picture)]
    drawn = [line for lines, _, _, facts in _parts(picture) for line in lines(*facts, width, drawing)]
    return drawn if all(len(line) <= width for line in drawn) else [sentence_of(picture)]


def sentence_of(picture: Picture) -> str:
    """What a picture shows, in a sentence for each part."""
    return " ".join(sentence(*facts) for _, sentence, _, facts in _parts(picture))


def svgs_of(picture: Picture) -> list[str]:
    """An SVG for each part of a picture."""
    return [svg(*facts) for _, _, svg, facts in _parts(picture)]


def _parts(picture: Picture) -> Iterator[_Form]:
    """The parts that a picture has."""
    if picture.grid is not None:
        yield grid_lines, grid_sentence, grid_svg, (picture.grid,)
    if picture.windows:
        yield window_lines, window_sentence, window_svg, (picture.windows,)
    if picture.shapes is not None:
        yield shape_lines, shape_sentence, shape_svg, (picture.shapes,)
    if picture.cards:
        yield count_lines, count_sentence, count_svg, (picture.cards,)
    if picture.moments:
        facts = picture.moments, picture.left_out
        yield timeline_lines, timeline_sentence, timeline_svg, facts
