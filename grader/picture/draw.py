"""A picture in one of its forms: lines of text, a sentence, an SVG."""

from __future__ import annotations

from grader.model.picture import Picture
from grader.picture import cards, grid, moments, shapes, windows
from grader.picture.drawing import Drawing


def lines_of(picture: Picture, width: int, drawing: Drawing) -> list[str]:
    """The lines of a picture, none wider than that; where pictures are told and not drawn, its sentence."""
    if drawing.plain:
        return [sentence_of(picture)]
    drawn: list[str] = []
    if picture.grid is not None:
        drawn += grid.lines(picture.grid, width, drawing)
    if picture.windows:
        drawn += windows.lines(picture.windows, width, drawing)
    if picture.shapes is not None:
        drawn += shapes.lines(picture.shapes, width, drawing)
    if picture.cards:
        drawn += cards.lines(picture.cards, width, drawing)
    if picture.moments:
        drawn += moments.lines(picture.moments, picture.left_out, width, drawing)
    # A picture that is wider than the terminal is none: its lines would be broken.
    return drawn if all(len(line) <= width for line in drawn) else [sentence_of(picture)]


def sentence_of(picture: Picture) -> str:
    """What a picture shows, in a sentence for each part."""
    told = [
        grid.sentence(picture.grid) if picture.grid is not None else "",
        windows.sentence(picture.windows) if picture.windows else "",
        shapes.sentence(picture.shapes) if picture.shapes is not None else "",
        cards.sentence(picture.cards) if picture.cards else "",
        moments.sentence(picture.moments, picture.left_out) if picture.moments else "",
    ]
    return " ".join(filter(None, told))


def svgs_of(picture: Picture) -> list[str]:
    """An SVG for each part of a picture."""
    drawn = [
        grid.svg(picture.grid) if picture.grid is not None else "",
        windows.svg(picture.windows) if picture.windows else "",
        shapes.svg(picture.shapes) if picture.shapes is not None else "",
        cards.svg(picture.cards) if picture.cards else "",
        moments.svg(picture.moments, picture.left_out) if picture.moments else "",
    ]
    return list(filter(None, drawn))
