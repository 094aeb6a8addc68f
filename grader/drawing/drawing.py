"""Tensors, shapes or values as one drawing: text in a terminal, SVG in a notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from grader.drawing.facts import drawn_tensors
from grader.drawing.svg import cells_svg
from grader.drawing.tensor import DrawnTensor, shared_sentence
from grader.model.picture import Grid, NamedShape, Picture, Shapes
from grader.report.pictures import lines_of, sentence_of

_WIDTH = 100
_MOST_GRID = 12


@dataclass(frozen=True)
class Drawing:
    """A drawing: a picture as failing checks have it, and the facts of the tensors.

    Attributes:
        picture: its facts.
        tensors: the tensors that are drawn, with dtype and device.
        sentences: the sentences below, such as what two tensors share.
    """

    picture: Picture
    tensors: tuple[DrawnTensor, ...] = ()
    sentences: tuple[str, ...] = ()

    def lines(self, width: int = _WIDTH, *, plain: bool = False, colours: bool = False) -> list[str]:
        """Return the drawing as lines of text, none wider than `width`.

        Args:
            width: columns.
            plain: True if sentences stand for boxes, for screen readers.
            colours: True if wrong elements are red, instead of between marks.
        """
        lines = [f"{facts.name}: {facts.sentence}" for facts in self.tensors]
        if self.picture != Picture():
            lines += lines_of(self.picture, width, plain=plain, colours=colours)
        return [*lines, *self.sentences]

    @property
    def description(self) -> str:
        """The drawing in sentences, for readers who cannot see it."""
        facts = [f"{one.name} is {one.sentence}." for one in self.tensors]
        return " ".join(
            filter(None, [sentence_of(self.picture) if self.picture != Picture() else "", *facts, *self.sentences])
        )

    def svg(self) -> str:
        """Return the drawing as an SVG: each element as a box, beside its place in the storage."""
        from grader.report.html import svg_of

        parts = []
        if any(facts.view is not None for facts in self.tensors):
            parts.append(cells_svg(self.tensors, "Tensors as views on their storages", self.description))
        rest = replace(self.picture, views=())
        if rest != Picture():
            parts.append(svg_of(rest))
        return parts[0] if len(parts) == 1 else _stack_svgs(parts)

    def html(self) -> str:
        """Return the SVG of the drawing and its sentences as a fragment of HTML."""
        from html import escape

        said = "".join(f"<p>{escape(text)}</p>" for text in self.sentences)
        return f'<div class="tensorgrade-drawing">{self.svg()}{said}</div>'

    def __str__(self) -> str:
        return "\n".join(self.lines())

    __repr__ = __str__

    def _repr_svg_(self) -> str:
        return self.svg()

    def _repr_html_(self) -> str:
        return self.html()


def _stack_svgs(parts: Sequence[str]) -> str:
    """Join SVGs, one below another, into one SVG."""
    import re

    boxes = [re.match(r'<svg[^>]*?width="([\d.]+)" height="([\d.]+)"', part) for part in parts]
    sizes = [(float(box[1]), float(box[2])) if box else (0.0, 0.0) for box in boxes]
    width, y, body = max((size[0] for size in sizes), default=0), 0.0, []
    for part, (_, height) in zip(parts, sizes, strict=True):
        body.append(part.replace("<svg ", f'<svg y="{y:g}" ', 1))
        y += height + 8
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{y:g}" viewBox="0 0 {width:g} {y:g}">'
    return f"{head}{''.join(body)}</svg>"


def drawing_of(values: Mapping[str, Any], expected: Any = None) -> Drawing:
    """Return the drawing of tensors, arrays or shapes.

    Args:
        values: tensors and NumPy arrays by name; or shapes, as tuples of numbers.
        expected: the values that a single tensor should have, drawn beside its own.

    Raises:
        TypeError: a value cannot be drawn.
        ValueError: there is nothing to draw.
    """
    if not values:
        raise ValueError("draw needs a tensor, or several: draw(x)")
    if all(_is_shape(value) for value in values.values()):
        rows = tuple(NamedShape(name, tuple(value)) for name, value in values.items())
        return Drawing(Picture(shapes=Shapes(rows, broadcast=True)))
    if any(_is_shape(value) for value in values.values()):
        raise TypeError("draw takes tensors and arrays, or shapes such as (2, 3), but not both at once")
    facts = tuple(drawn_tensors(values))
    if expected is not None:
        ((name, value),) = values.items()
        return _drawing_beside_expected(name, value, expected)
    views = tuple(one.view for one in facts if one.view is not None)
    shapes = None
    if len(facts) > 1:
        shapes = Shapes(tuple(NamedShape(one.name, one.shape) for one in facts), broadcast=True)
    pairs = [(facts[0], other) for other in facts[1:]]
    said = tuple(filter(None, (shared_sentence(*pair) for pair in pairs)))
    return Drawing(Picture(views=views, shapes=shapes), facts, said)


def _is_shape(value: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(size, int) and size >= 0 for size in value)


def _drawing_beside_expected(name: str, value: Any, expected: Any) -> Drawing:
    """Return the drawing of a small tensor beside the expected one.

    If the shapes differ, only the shapes are drawn. If all elements agree, a sentence says so.
    """
    import torch

    got, wanted = torch.as_tensor(value).detach().cpu(), torch.as_tensor(expected).detach().cpu()
    if got.shape != wanted.shape:
        rows = (NamedShape("expected", tuple(wanted.shape)), NamedShape(name, tuple(got.shape)))
        return Drawing(Picture(shapes=Shapes(rows)))
    if got.dim() > 2 or max(got.shape, default=0) > _MOST_GRID or not got.numel():
        raise ValueError(
            f"values are drawn side by side for at most 2 dims of at most {_MOST_GRID}; index a part of {name}"
        )
    same = torch.isclose(got.double(), wanted.double(), equal_nan=True) if not got.is_complex() else got == wanted
    grid = Grid(
        _rows_of_texts(wanted),
        _rows_of_texts(got),
        tuple(tuple(not each for each in row) for row in _as_matrix(same)),
        got.dim(),
    )
    if bool(same.all()):
        return Drawing(Picture(), (), (f"{name} is as expected: all {got.numel()} elements agree.",))
    return Drawing(Picture(grid=grid))


def _as_matrix(value: Any) -> list[list[Any]]:
    rows: list[list[Any]] = value.reshape((1,) * (2 - value.dim()) + tuple(value.shape)).tolist()
    return rows


def _rows_of_texts(value: Any) -> tuple[tuple[str, ...], ...]:
    def text(each: Any) -> str:
        return f"{each:.4g}" if isinstance(each, float) else str(each)

    return tuple(tuple(text(each) for each in row) for row in _as_matrix(value))
