"""What rich draws: tables, bars, rates and code are the same wherever they are printed, and no text is markup."""

from __future__ import annotations

import click
import pytest

from grader.report import console
from grader.report.blocks import Cell, Rate, TableColumn, bar_text, code_lines, coloured_code, table_lines
from grader.report.safe import column_count

HEADS = (TableColumn("in", 5), TableColumn("mean", 4), TableColumn("exercise", is_text=True))
ROWS: list[list[Cell]] = [
    ["8", "5", ("01-1 Double it", "3 lose C1 Doubles each number")],
    ["12", "3.6", "01-2 \u5f62\u72b6 [red]:smile:"],
]
CODE = [(7, "def f(x):", False), (8, '    return "[bold]" + x', True), (None, "    # \u5f62\u72b6\x1b[2J", False)]


def test_a_table_has_what_belongs_together_in_one_cell() -> None:
    """Numbers end below each other, texts begin there; markup and emoji codes are text."""
    assert list(table_lines(HEADS, ROWS, 60)) == [
        "   in  mean  exercise",
        "    8     5  01-1 Double it",
        "               3 lose C1 Doubles each number",
        "   12   3.6  01-2 \u5f62\u72b6 [red]:smile:",
    ]


@pytest.mark.parametrize("width", [24, 33, 60])
def test_a_table_fits(width: int) -> None:
    """Texts are wrapped, by columns of the terminal, and nothing of them is lost, also of a word that is too long."""
    text = "01-1 " + "\u5f62\u72b6\u3068" * 9 + " a_name_without_any_blank_in_it"
    drawn = list(table_lines(HEADS, [["8", "5", text]], width))
    assert max(map(column_count, drawn)) <= width
    assert "".join("".join(drawn[1:]).split()) == "85" + text.replace(" ", "")


@pytest.mark.parametrize(
    "environment",
    [
        {"COLUMNS": "20", "LINES": "3"},
        {"TERM": "dumb"},
        {"NO_COLOR": "1"},
        {"FORCE_COLOR": "1", "TTY_COMPATIBLE": "1", "TTY_INTERACTIVE": "1"},
        {"JUPYTER_COLUMNS": "20", "COLORTERM": "truecolor"},
        {"CI": "true", "GITHUB_ACTIONS": "true"},
    ],
)
def test_the_environment_changes_no_block(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """What rich would read of it is decided by us: a job's log has the lines of a terminal."""
    for name in ("COLUMNS", "LINES", "TERM", "NO_COLOR", "FORCE_COLOR", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)

    def drawn() -> list[object]:
        bars = [bar_text(3, 7, 20, colours=colours) for colours in (True, False)]
        code = [[*code_lines(CODE, "", 40, colours=colours)] for colours in (True, False)]
        return [[*table_lines(HEADS, ROWS, 60)], bars, code]

    before = drawn()
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert drawn() == before


def test_a_marked_line_of_code_has_a_sign() -> None:
    """In colours it is bold, too, and the text is the same; what would move the cursor is spelled out."""
    plain = list(code_lines(CODE, "  ", 40, colours=False))
    assert plain == [
        "       7  def f(x):",
        '  >    8      return "[bold]" + x',
        "              # \u5f62\u72b6\\x1b[2J",
    ]
    coloured = list(code_lines(CODE, "  ", 40, colours=True))
    assert [click.unstyle(line).rstrip() for line in coloured] == plain
    assert "\x1b[1;31m  >" in coloured[1]
    assert all("\x1b[2J" not in line for line in coloured)
    assert [column_count(line) for line in code_lines([(1, "x" * 99, False)], "", 40, colours=False)] == [40]


def test_code_to_copy_is_whole() -> None:
    """Colours change no character of it, however long a line is; blank lines stay."""
    code = [
        "import torch",
        "",
        "",
        f"x = '{'a' * 200}'  # {'b' * 200}",
        "def f(x):",
        '    """',
        "    text",
        '    """',
        "",
    ]
    coloured = coloured_code(code)
    assert [click.unstyle(line) for line in coloured] == code
    assert any("\x1b[" in line for line in coloured)


def test_a_bar_shows_a_part() -> None:
    """It has its columns at the beginning and at the end, with colours and without."""
    for colours in (True, False):
        bars = [click.unstyle(bar_text(done, 4, 20, colours=colours)) for done in (0, 2, 4)]
        assert [column_count(bar) for bar in bars] == [20] * 3
        assert bars[2] == "\u2501" * 20
    assert bars[:2] == [" " * 20, "\u2501" * 10 + " " * 10]
    assert column_count(bar_text(0, 0, 20, colours=False)) == 20


@pytest.mark.parametrize("seconds", [0.5, 40])
def test_a_rate_counts_from_the_first_step_on(seconds: float) -> None:
    """Also where a step takes longer than rich remembers one by itself; less than before begins another count."""
    now = [0.0]
    rate = Rate(lambda: now[0])
    told = []
    for done in (5, 5, 6, 7, 9, 5, 6, 7):  # an earlier run did five
        told.append(rate.text(done, 10))
        now[0] += seconds
    pace = 60 / seconds
    left = {0.5: ("2 s", "0 s", "2 s"), 40: ("2 min", "27 s", "2 min")}[seconds]
    assert told == [
        *("5 of 10", "5 of 10", "6 of 10"),
        f"7 of 10, {pace:.0f} a minute, {left[0]} left",
        f"9 of 10, {1.5 * pace:.0f} a minute, {left[1]} left",
        *("5 of 10", "6 of 10"),
        f"7 of 10, {pace:.0f} a minute, {left[2]} left",
    ]


class Terminal:
    """Standard output that says it is a terminal, and keeps what is written."""

    def __init__(self, encoding: str = "utf-8") -> None:
        self.encoding = encoding
        self.text = ""

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("encoding", "sign"), [("utf-8", "\u2501"), ("cp1252", "=")])
def test_a_run_that_goes_on_has_a_bar(monkeypatch: pytest.MonkeyPatch, encoding: str, sign: str) -> None:
    """It stands before the words, in a line that the next one replaces; in ASCII where the terminal has no more."""
    terminal = Terminal(encoding)
    monkeypatch.setattr("sys.stdout", terminal)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "dumb")
    pace = console.Pace(console.Say())
    pace(5, 10)
    assert terminal.text == f"  {sign * 12}{' ' * 12} 5 of 10"
    console.Say()("done")
    assert terminal.text.endswith(f"\r{' ' * 34}\rdone\n")


def test_a_narrow_terminal_has_the_words_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is done and how fast comes before the bar, and nothing goes beyond the line."""
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    monkeypatch.setenv("COLUMNS", "40")
    console.Say().meanwhile("5 of 10, 30 a minute, 10 s left", done=(5, 10))
    console.Say.erase()
    assert terminal.text.startswith("  5 of 10, 30 a minute, 10 s left\r")


@pytest.mark.parametrize(
    ("environment", "shown"),
    [({"TERM": "xterm"}, True), ({"TERM": "dumb"}, False), ({"TERM": "xterm", "NO_COLOR": "1"}, False), ({}, True)],
)
def test_colours_are_shown_where_they_are_seen(
    environment: dict[str, str], shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a terminal that has them, unless NO_COLOR refuses them; never in a pipe."""
    for name in ("TERM", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert not console.shows_colours()
    monkeypatch.setattr("sys.stdout", Terminal())
    assert console.shows_colours() is shown
