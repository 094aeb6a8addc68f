"""Pictures are drawn from facts alone: as text that fits, as a sentence, as an SVG that says what it shows."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET

import pytest

from grader.model.files import from_json, to_json
from grader.model.picture import Grid, Moment, NamedShape, Picture, Shapes, View
from grader.report.console import Say
from grader.report.html import svg_of
from grader.report.pictures import indices_by_offset, lines_of, sentence_of

GRID = Picture(grid=Grid((("1", "2"), ("3", "4")), (("1", "3"), ("2", "4")), ((False, True), (True, False))))
VIEWS = Picture(
    views=(View("t", (2, 3), (3, 1), 0, 6), View("yours", (3,), (2,), 1, 6), View("copy", (2,), (1,), 0, 2, 1))
)
BROADCAST = Picture(
    shapes=Shapes((NamedShape("pred", (3, 1)), NamedShape("target", (3,))), broadcast=True, expected=(3, 1))
)
CLASH = Picture(shapes=Shapes((NamedShape("a", (4, 3)), NamedShape("b", (4,))), broadcast=True))
MOMENTS = Picture(
    moments=(
        Moment("launch host to device", "host", 5e-6, 1e-5),
        Moment("host to device", "0", 1e-5, 4e-5),
        Moment("wait for copy", "host", 1e-5, 4e-5),
        Moment("mm", "0", 4e-5, 9e-5),
    ),
    left_out=2,
)
ALL = {"grid": GRID, "views": VIEWS, "broadcast": BROADCAST, "clash": CLASH, "moments": MOMENTS}


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("width", [30, 36, 50, 70])
def test_pictures_fit(name: str, width: int) -> None:
    """No line is wider than the terminal; nothing ends in blanks."""
    drawn = lines_of(ALL[name], width)
    assert drawn
    assert [line for line in drawn if len(line) > width or line != line.rstrip()] == []


@pytest.mark.parametrize("name", ALL)
def test_svgs_say_what_they_show(name: str) -> None:
    """Each SVG is XML with a title, and with the sentence as its description; a picture is the same in a report."""
    assert from_json(Picture, to_json(ALL[name])) == ALL[name]
    root = ET.fromstring(svg_of(ALL[name]))
    texts = {child.tag.rpartition("}")[2]: child.text for child in root}
    assert texts["title"]
    assert texts["desc"] == sentence_of(ALL[name])


def test_wrong_cells_are_marked_by_shape() -> None:
    """A wrong cell stands between marks, and the sentence names the expected value."""
    assert lines_of(GRID, 70) == [
        "expected     got",
        "┌───┬───┐    ┌───┬───┐",
        "│ 1 │ 2 │    │ 1 │>3<│",
        "│ 3 │ 4 │    │>2<│ 4 │",
        "└───┴───┘    └───┴───┘",
        "> < marks wrong elements",
    ]
    assert sentence_of(GRID) == "Wrong elements: at [0, 1] expected 2, got 3; at [1, 0] expected 3, got 2."
    assert [svg_of(GRID).count(f">&gt;{cell}&lt;<") for cell in "132"] == [0, 1, 1]


def test_a_narrow_terminal_has_pictures() -> None:
    """Values stand below each other, a layout takes a line for each part; what still does not fit is a sentence."""
    wide = Picture(grid=Grid((("1000", "2000"),), (("1000", "3000"),), ((False, True),), 1))
    drawn = lines_of(wide, 26)
    assert [line for line in drawn if line in ("expected", "got")] == ["expected", "got"]
    assert lines_of(wide, 12) == ["Wrong", "elements: at", "[1] expected", "2000, got", "3000."]
    layout = Picture(views=(View("a_long_name", (2, 2), (0, 2), 1, 4),))
    assert lines_of(layout, 34)[:4] == ["a_long_name:", "  shape (2, 2)", "  strides (0, 2)", "  offset 1"]
    assert lines_of(MOMENTS, 40)[-1] == "░ the host waits"
    names = Shapes((NamedShape("the result of your function", (3, 1)), NamedShape("y", (3,))), broadcast=True)
    assert lines_of(Picture(shapes=names), 30)[0].startswith("the result of")
    assert " ".join(lines_of(GRID, 70, plain=True)) == sentence_of(GRID)


def test_each_place_of_a_storage_tells_who_reads_it() -> None:
    """Boxes hold indices; what nobody reads is empty; a plus marks what several indices read."""
    assert indices_by_offset(View("w", (2, 2), (0, 2), 1, 4)) == {1: [(0, 0), (1, 0)], 3: [(0, 1), (1, 1)]}
    assert lines_of(Picture(views=(View("w", (2, 2), (0, 2), 1, 4),)), 60) == [
        "w: shape (2, 2), strides (0, 2), offset 1",
        "     0      1      2      3",
        "  ┌──────┬──────┬──────┬──────┐",
        "  │      │ 0,0+ │      │ 0,1+ │",
        "  └──────┴──────┴──────┴──────┘",
        "  + is read by more than one index",
    ]


def test_who_shares_a_storage_is_said() -> None:
    """A second view names the storage it is on, or that it has its own."""
    assert sentence_of(VIEWS) == (
        "t has shape (2, 3), strides (3, 1) and offset 0 in a storage of 6 elements; "
        "yours has shape (3,), strides (2,) and offset 1 in the storage of t itself; "
        "copy has shape (2,), strides (1,) and offset 0 in a storage of 2 elements, its own."
    )
    drawn = lines_of(VIEWS, 70)
    assert "  in the storage of t:" in drawn
    assert "  in a storage of its own:" in drawn


def test_a_large_storage_is_begun() -> None:
    """Of a storage that does not fit one row is drawn, and the rest counted."""
    drawn = lines_of(Picture(views=(View("t", (1000,), (1,), 0, 1000),)), 70)
    assert len(drawn) == 6
    assert drawn[-1].endswith("more elements")


def test_shapes_stretch_or_clash() -> None:
    """Shapes are aligned at the right; what stretches and what clashes has a mark; a 1 becomes a 0 beside a 0."""
    assert lines_of(BROADCAST, 70) == [
        "pred       (3,   1)",
        "target          (3,)",
        "            ~    ~",
        "give       (3,   3)",
        "expected   (3, 1)",
        "~ stretched",
    ]
    assert sentence_of(BROADCAST) == "Expected shape (3, 1); broadcasting pred (3, 1) and target (3,) gives (3, 3)."
    assert lines_of(CLASH, 70)[2:] == ["     ~    !", "~ stretched, ! they clash"]
    assert sentence_of(CLASH) == "Broadcasting a (4, 3) and b (4,): they clash in dim -1."
    zero = Shapes((NamedShape("a", (0, 2)), NamedShape("b", (1, 1))), broadcast=True)
    assert sentence_of(Picture(shapes=zero)) == "Broadcasting a (0, 2) and b (1, 1) gives (0, 2)."
    both = Shapes((NamedShape("a", (0,)), NamedShape("b", (2,))), broadcast=True)
    assert "clash" in sentence_of(Picture(shapes=both))


def test_a_timeline_tells_waits_from_work() -> None:
    """The host's waits, its work and a device's work have characters of their own; what is left out is said."""
    drawn = lines_of(MOMENTS, 70)
    marks = {line.split("│")[0].strip(): set(line.split("│")[1].strip()) for line in drawn[1:5]}
    assert marks == {"host: launch host to device": {"▒"}, "GPU 0: host to device": {"█"}, "host: wait for copy": {"░"},
                     "GPU 0: mm": {"█"}}  # fmt: skip
    assert drawn[5] == "2 more follow"
    assert sentence_of(MOMENTS) == (
        "In 85 us of virtual time 1 kernel and 1 copy ran, and the host waited 1 time, for 30 us in all; "
        "2 more steps follow."
    )


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_without_utf_8_pictures_are_ascii(capsys: pytest.CaptureFixture[str], encoding: str) -> None:
    """A terminal that cannot show boxes gets them in ASCII."""
    sys.stdout.reconfigure(encoding=encoding)  # type: ignore[union-attr]
    Say()(*lines_of(Picture(views=(View("x", (2,), (1,), 0, 2),)), 70))
    printed = capsys.readouterr().out
    assert ("┌" in printed) is (encoding == "utf-8")
    assert ("+-" in printed) is (encoding == "ascii")


def test_text_in_a_picture_is_not_markup() -> None:
    """A name with markup or control characters is text in the SVG, which stays XML."""
    odd = Picture(views=(View('<b a="1">&\x1b', (2,), (1,), 0, 2),))
    root = ET.fromstring(svg_of(odd))
    assert any("<b a=" in (node.text or "") for node in root.iter())
