"""How a picture becomes text: in which characters, and whether it is drawn at all."""

from __future__ import annotations

from dataclasses import dataclass

_BOXES = "┌┬┐├┼┤└┴┘─│█▏░…·"
"""Characters that a terminal must have."""


@dataclass(frozen=True)
class Drawing:
    """How pictures are drawn.

    Attributes:
        unicode: whether lines and boxes may be used; else ASCII alone.
        plain: a sentence in place of a picture, for whoever has it read out.
    """

    unicode: bool = False
    plain: bool = False

    @classmethod
    def on(cls, encoding: str | None, *, plain: bool = False) -> Drawing:
        """What a stream of that encoding can show."""
        try:
            _BOXES.encode(encoding or "ascii")
        except (UnicodeEncodeError, LookupError):
            return cls(plain=plain)
        return cls(unicode=True, plain=plain)

    @property
    def line(self) -> str:
        """Of a box, from side to side."""
        return "─" if self.unicode else "-"

    @property
    def side(self) -> str:
        """Of a box, from top to bottom."""
        return "│" if self.unicode else "|"

    @property
    def work(self) -> str:
        """Of a bar that is work."""
        return "█" if self.unicode else "#"

    @property
    def wait(self) -> str:
        """Of a bar in which somebody waits."""
        return "░" if self.unicode else "."

    @property
    def host(self) -> str:
        """Of a bar that is work of the host."""
        return "▒" if self.unicode else "="

    def top(self, widths: list[int]) -> str:
        """The upper line of boxes that stand side by side."""
        return self._edge(widths, "┌┬┐" if self.unicode else "+++")

    def bottom(self, widths: list[int]) -> str:
        """The lower line."""
        return self._edge(widths, "└┴┘" if self.unicode else "+++")

    def row(self, cells: list[str]) -> str:
        """Boxes side by side with what is in them."""
        return self.side + self.side.join(cells) + self.side

    def _edge(self, widths: list[int], corners: str) -> str:
        return corners[0] + corners[1].join(self.line * width for width in widths) + corners[2]


ASCII = Drawing()


def fitted(text: str, room: int) -> str:
    """A name in so many columns: its end is cut."""
    return text if len(text) <= room else f"{text[: room - 2]}.."


def size(numbers: tuple[int, ...]) -> str:
    """A shape or strides, as Python writes them."""
    return f"({numbers[0]},)" if len(numbers) == 1 else f"({', '.join(map(str, numbers))})"
