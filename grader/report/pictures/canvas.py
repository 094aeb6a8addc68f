"""What pictures are drawn with: characters for a terminal, boxes and words for an SVG.

An SVG has a title and a description for readers who cannot see it. The colours are those of Okabe and Ito, which
colour-blind readers can tell apart. What is wrong has a cross besides.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from xml.sax import saxutils

INK, PAPER, FAINT = "#1b1f24", "#ffffff", "#6b7280"
BLUE, ORANGE, SKY, GREEN, WRONG = "#0072B2", "#E69F00", "#56B4E9", "#009E73", "#D55E00"
FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace"
CHAR = 8.4
"""Width of a character of 14 pixels, in the fonts that are there."""

LINE = 20
_MARGIN = 12


class Canvas:
    """Draw on it, then take its text. It grows with what is drawn."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._width = self._height = 0.0

    def box(self, x: float, y: float, width: float, height: float, *, fill: str = PAPER, edge: str = INK) -> None:
        """A box."""
        self._reach(x + width, y + height)
        self._parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{fill}" stroke="{edge}"/>'
        )

    def wrong(self, x: float, y: float, width: float, height: float) -> None:
        """A box with a thick edge and a cross in its corner."""
        self._reach(x + width, y + height)
        self._parts.append(
            f'<rect x="{x + 1.5:g}" y="{y + 1.5:g}" width="{width - 3:g}" height="{height - 3:g}" fill="none" '
            f'stroke="{WRONG}" stroke-width="3"/>'
            f'<path d="M{x + width - 11:g} {y + 4:g}l7 7m0 -7l-7 7" stroke="{WRONG}" stroke-width="2"/>'
        )

    def words(
        self, x: float, y: float, text: str, *, colour: str = INK, middle: bool = False, bold: bool = False
    ) -> None:
        """A line of text, whose base is at y."""
        self._reach(x + len(text) * CHAR * (0.5 if middle else 1), y + 4)
        more = ' text-anchor="middle"' if middle else ""
        more += ' font-weight="bold"' if bold else ""
        # As wide in every font, so that columns stay columns.
        more += f' textLength="{len(text) * CHAR:g}" lengthAdjust="spacingAndGlyphs"' if len(text) > 1 else ""
        self._parts.append(f'<text x="{x:g}" y="{y:g}" fill="{colour}"{more} xml:space="preserve">{_safe(text)}</text>')

    def svg(self, title: str, description: str) -> str:
        """The whole, as text."""
        width, height = self._width + 2 * _MARGIN, self._height + 2 * _MARGIN
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
            f'height="{height:g}" role="img" aria-label="{_safe(title)}. {_safe(description)}" '
            f'font-family="{FONT}" font-size="14">\n'
            f"<title>{_safe(title)}</title>\n<desc>{_safe(description)}</desc>\n"
            f'<rect width="100%" height="100%" fill="{PAPER}"/>\n<g transform="translate({_MARGIN} {_MARGIN})">\n'
            + "\n".join(self._parts)
            + "\n</g>\n</svg>\n"
        )

    def _reach(self, x: float, y: float) -> None:
        self._width, self._height = max(self._width, x), max(self._height, y)


def _safe(text: str) -> str:
    # XML has no place for control characters, not even spelled as references.
    shown = "".join(char if char.isprintable() or char == "\n" else "?" for char in text)
    return saxutils.escape(shown, {'"': "&quot;"})


@dataclass(frozen=True)
class Drawing:
    """The characters that pictures are drawn with.

    Attributes:
        plain: whether a sentence takes the place of a picture, for screen readers.
        line: of a box, from side to side.
        side: of a box, from top to bottom.
        top: the corners of boxes that stand side by side.
        bottom: their lower corners.
        work: of a bar that is work.
        wait: of a bar in which somebody waits.
        host: of a bar that is work of the host.
    """

    plain: bool = False
    line: str = "-"
    side: str = "|"
    top: str = "+++"
    bottom: str = "+++"
    work: str = "#"
    wait: str = "."
    host: str = "="

    @classmethod
    def on(cls, encoding: str | None, *, plain: bool = False) -> Drawing:
        """What a stream of that encoding can show."""
        try:
            "".join(map(str, vars(UNICODE).values())).encode(encoding or "ascii")
        except (UnicodeEncodeError, LookupError):
            return cls(plain=plain)
        return replace(UNICODE, plain=plain)

    def boxes(self, rows: list[list[str]]) -> list[str]:
        """Rows of boxes side by side with what is in them; all cells of a column have the same width."""
        widths = [self.line * len(cell) for cell in rows[0]]
        edges = [ends[0] + ends[1].join(widths) + ends[2] for ends in (self.top, self.bottom)]
        return [edges[0], *(self.side + self.side.join(row) + self.side for row in rows), edges[1]]


ASCII = Drawing()
UNICODE = Drawing(line="─", side="│", top="┌┬┐", bottom="└┴┘", work="█", wait="░", host="▒")


def fitted(text: str, room: int) -> str:
    """A name in so many columns: its end is cut."""
    return text if len(text) <= room else f"{text[: room - 2]}.."


def size(numbers: tuple[int, ...]) -> str:
    """A shape or strides, as Python writes them."""
    return f"({numbers[0]},)" if len(numbers) == 1 else f"({', '.join(map(str, numbers))})"
