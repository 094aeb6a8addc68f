"""`grade draw`: shapes and storages without a course."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from click.testing import CliRunner

from grader.cli import main


def draw(*arguments: str) -> tuple[int, str]:
    ran = CliRunner().invoke(main, ["draw", *arguments])
    return ran.exit_code, ran.output


def test_shapes_and_storages_are_drawn() -> None:
    """Several shapes are broadcast; one with strides is a view on its storage, as large as it needs to be."""
    assert draw("(3, 1)", "3", "--plain") == (0, "Broadcasting shape 1 (3, 1) and shape 2 (3,) gives (3, 3).\n")
    told = "the tensor has shape (2, 3), strides (1, 2) and offset 1 in a storage of 7\nelements.\n"
    assert draw("2, 3", "--strides", "(1, 2)", "--offset", "1", "--plain") == (0, told)
    assert draw("(99999999999, 9)", "--strides", "(9, 1)")[1].endswith("and 899,999,999,979 more elements\n")
    assert "| 0,0 |" in draw("(2, 2)", "--strides", "2,1")[1].replace("│", "|")


def test_a_picture_for_a_page(tmp_path: Path) -> None:
    """An SVG is written, which says what it shows."""
    path = tmp_path / "layout.svg"
    assert draw("(2, 3)", "--strides", "(1, 2)", "--svg", str(path))[0] == 0
    assert any("strides (1, 2)" in (node.text or "") for node in ET.parse(path).getroot() if node.tag.endswith("desc"))
    code, told = draw("(2,)", "(1,)", "--svg", str(path / "x.svg"))
    assert (code, "cannot be written" in told) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["(3, 1"], "is not a shape"),
        (["(3, -1)", "(3,)"], "is not a shape"),
        (["__import__('os')", "3"], "is not a shape"),
        (["(3, 1)"], "one shape is not enough"),
        (["(3, 1)", "--strides", "(1,)"], "--strides is for one shape"),
        (["(3, 1)", "(3, 1)", "--strides", "(1, 1)"], "--strides is for one shape"),
        (["(3, 2)", "--strides", "(2, 1)", "--storage", "5"], "index (2, 1) reads element 5; --storage has 5"),
        (["(3, 1", "(3,)"], "is not a shape"),
        (["(3, x)", "(3,)"], "is not a shape"),
    ],
)
def test_what_cannot_be_drawn(arguments: list[str], told: str) -> None:
    """What is no shape, or reads beyond its storage, is told in a sentence."""
    code, said = draw(*arguments)
    assert (code, told in said) == (2, True)
