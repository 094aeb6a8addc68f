"""`grade draw SHAPE...`: how shapes broadcast, or how a tensor reads its storage; for pages, and for a quick look."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.options import plain_option
from grader.cli.printing import Say, drawing, errors_as_lines, terminal_width

if TYPE_CHECKING:
    from grader.model import Picture

_MOST_DIMS, _MOST_SIZE = 6, 1 << 40


@click.command()
@click.argument("shapes", metavar="SHAPE...", nargs=-1, required=True)
@click.option("--strides", metavar="STRIDES", help='Of one shape, such as "(1, 2)": draw its storage.')
@click.option("--offset", type=click.IntRange(min=0), default=0, help="Where in the storage it begins.")
@click.option("--storage", type=click.IntRange(min=0), help="How many elements the storage has; as many as it needs.")
@click.option("--svg", type=click.Path(path_type=Path), help="Write the picture as an SVG.")
@plain_option
def command(
    shapes: tuple[str, ...], strides: str | None, offset: int, storage: int | None, svg: Path | None, plain: bool
) -> None:
    r"""Draw how shapes broadcast, or which element of a storage each index reads.

    \b
    grade draw "(3, 1)" "(3,)"
    grade draw "(2, 3)" --strides "(1, 2)" --offset 1
    """
    say = Say()
    with errors_as_lines():
        from grader.model.errors import CourseError
        from grader.model.files import write_whole
        from grader.report.lines import filled
        from grader.report.pictures import lines_of, svgs_of

        picture = _picture(shapes, strides, offset, storage)
        width, shown = terminal_width(), drawing(plain=plain)
        for line in lines_of(picture, width, shown):
            say(*(filled(line.split(" "), "", width, "") if len(line) > width else [line]))
        if svg is not None:
            try:
                write_whole(svg, svgs_of(picture)[0])
            except OSError as error:
                raise CourseError(f"{svg} cannot be written: {error.strerror}; name another place") from None
            say(f"The picture is in {svg}")


def _picture(shapes: tuple[str, ...], strides: str | None, offset: int, storage: int | None) -> Picture:
    from grader.model import Picture
    from grader.model.errors import CourseError
    from grader.model.picture import NamedShape, Shapes, Window

    read = [_sizes(text, least=0) for text in shapes]
    if strides is None:
        if len(read) < 2:
            raise CourseError("one shape alone has nothing to be drawn beside; give a second one, or --strides")
        rows = tuple(NamedShape(f"shape {number}", shape) for number, shape in enumerate(read, 1))
        return Picture(shapes=Shapes(rows, broadcast=True))
    (shape, *others), steps = read, _sizes(strides, least=-_MOST_SIZE)
    if others or len(steps) != len(shape) or min(steps, default=0) < 0:
        raise CourseError("--strides is for one shape, and has a number from 0 for each of its dims")
    last = offset + sum((size - 1) * step for size, step in zip(shape, steps, strict=True))
    needed = last + 1 if all(shape) else offset
    if storage is not None and storage < needed:
        raise CourseError(f"index {tuple(size - 1 for size in shape)} reads element {last}; --storage has {storage}")
    return Picture(windows=(Window("the tensor", shape, steps, offset, needed if storage is None else storage),))


def _sizes(text: str, *, least: int) -> tuple[int, ...]:
    """A shape as Python writes it; "3, 1" and "3" will do."""
    from grader.model.errors import CourseError

    try:
        value = ast.literal_eval(text.strip() or "()")
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        value = None
    sizes = (value,) if isinstance(value, int) else tuple(value) if isinstance(value, (tuple, list)) else None
    whole = sizes is not None and all(type(size) is int and least <= size <= _MOST_SIZE for size in sizes)
    if sizes is None or not whole or len(sizes) > _MOST_DIMS:
        raise CourseError(f'{text!r} is no shape; write one as Python does, in quotes: "(3, 1)"')
    return sizes
