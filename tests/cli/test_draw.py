"""`grade draw`: shapes and storages without a course."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from grader.cli import main


def draw(*arguments: str) -> tuple[int, str]:
    ran = CliRunner().invoke(main, ["draw", *arguments])
    return ran.exit_code, ran.output


def test_shapes_and_storages_are_drawn() -> None:
    """Several shapes are broadcast; one with strides is a window on its storage, as large as it needs to be."""
    assert draw("(3, 1)", "3", "--plain") == (0, "Broadcasting shape 1 (3, 1) and shape 2 (3,) gives (3, 3).\n")
    told = "the tensor has shape (2, 3), strides (1, 2) and offset 1 in a storage of 7\nelements.\n"
    assert draw("2, 3", "--strides", "(1, 2)", "--offset", "1", "--plain") == (0, told)
    assert draw("(99999999999, 9)", "--strides", "(9, 1)")[1].endswith("and 899,999,999,979 more elements\n")
    assert "| 0,0 |" in draw("(2, 2)", "--strides", "2,1")[1].replace("│", "|")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["(3, 1"], "is not a shape"),
        (["(3, -1)", "(3,)"], "is not a shape"),
        (["__import__('os')", "3"], "is not a shape"),
        (["(3, 1)"], "one shape alone"),
        (["(3, 1)", "--strides", "(1,)"], "--strides is for one shape"),
        (["(3, 1)", "(3, 1)", "--strides", "(1, 1)"], "--strides is for one shape"),
    ],
)
def test_what_cannot_be_drawn(arguments: list[str], told: str) -> None:
    """What is no shape is told in a sentence."""
    code, said = draw(*arguments)
    assert (code, told in said) == (2, True)
