"""Student text in every place: what the place's own reader makes of it is the text, and nothing else."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from grader.report import safe

NASTY = [
    *("\x1b[2J\x1b]0;t\x07", "\x9b31m", "\r", "\r\n", "\n", "\t", "\0", "\x7f", "\x85", "\u2028", "\u2029", "\x0b\x0c"),
    *("\u202e", "\u2066", "\u200b", "\u200d", "\ufeff", "\u00ad", "\U000e0041", "\ud800", "\ufffe", "\uffff", "\ue000"),
    *("e" + "\u0301" * 9, "\u0336", "\u0e47" * 7, "\u3164", "\u115f", "\u2800", "\xa0", "\u3000", "\u4e2d", "e\u0301"),
    *("=1+1", "+1", "-1", "@SUM(A1)", "%0A", "|calc", "\uff1d1", "\u22121", "=cmd|' /C calc'!A0", ";", ",", '"', "'"),
    *("]]>", "<![CDATA[", "<b>", "</pre>", "<!--", "&amp;", "&#1;", "<a href='x'>"),
    *("`", "``", "```", "~~~", "|", "\\", "\\|", "*a*", "_b_", "[x](y)", "![x](y)", "@user", "#1", "http://x.y", "# h"),
    *("$x$", "- a", "> q", "    code", " ", "a", "score 60 / 60", "x" * 90, "\n# h\n", "</details>", "<script>"),
    *("::error::x", "\n::error file=a::b", "%0A::set-output name=a::b", "##[group]", "::endgroup::", "##vso[x]", "::"),
    *("section_start:1:a\r\x1b[0K", "::stop-commands::x", "%25", ":"),
]
TEXTS = st.lists(st.sampled_from(NASTY) | st.text(max_size=4), max_size=8).map("".join)
FUZZ = settings(derandomize=True, database=None, deadline=None, max_examples=150)


def seen(text: str) -> str:
    """Text with all that cannot be seen spelled out, line breaks and tabs kept."""
    return safe._spell_out_invisible(text)


def one_line(text: str) -> str:
    """The same, line breaks and tabs spelled out too."""
    return safe._spell_out_invisible(text, "")


@given(TEXTS)
@FUZZ
def test_terminals_are_sent_what_can_be_seen(text: str) -> None:
    """Nothing that a terminal acts upon is left, except for line breaks; a second time changes nothing."""
    shown = safe.for_terminal(text)
    assert all(char == "\n" or unicodedata.category(char)[0] != "C" for char in shown)
    assert not set(shown) & set("\t\u2028\u2029\u3164\u115f\u2800")
    assert re.search(r"[\u0300-\u036f]{5}|(^|\n)[\u0300-\u036f]", shown) is None
    assert safe.for_terminal(shown) == shown
    assert "\n" not in safe.for_terminal(text, one_line=True)
    shown.encode("utf-8")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text, \xe9 \u4e2d \U0001f600 e\u0301", "plain text, \xe9 \u4e2d \U0001f600 e\u0301"),
        ("\x1b[2J\x9b\0\r", r"\x1b[2J\x9b\x00\r"),
        ("a\tb\n\tc", "a       b\n        c"),
        ("\u202eab\u200b\ufeff", r"\u202eab\u200b\ufeff"),
        ("\ud800\udfff", r"\ud800\udfff"),
        ("\u0336a\u0336\n\u0336", "\\u0336a\u0336\n\\u0336"),
        ("e" + "\u0301" * 6, "e" + "\u0301" * 4 + r"\u0301\u0301"),
    ],
)
def test_what_a_terminal_shows(text: str, shown: str) -> None:
    """Ordinary text of any language stays; the rest is spelled out as Python would."""
    assert safe.for_terminal(text) == shown


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("abc", 3),
        ("\xe9a", 2),
        ("\u2764\ufe0f", 2),
        ("\U0001f44d\U0001f3fd", 2),
        ("\u0915\u093e", 1),
        ("e\u0301a", 2),
        ("\u4e2d\uff1d", 4),
        ("\u1112\u1161\u11ab", 2),
        ("\ud55c", 2),
    ],
)
def test_columns(text: str, taken: int) -> None:
    """Characters of two columns count twice, accents of their own not at all; Korean also in parts."""
    assert safe.column_count(text) == taken
    assert safe.column_count(safe.pad(text, 9)) == 9


@pytest.mark.parametrize("width", [20, 33])
def test_wide_text_is_wrapped_and_cut_by_columns(width: int) -> None:
    """Japanese has no blanks, so a line ends at any of its characters; a path stays whole."""
    text = "\u5f62\u72b6\u3068\u30b9\u30c8\u30e9\u30a4\u30c9\u3092" * 5 + "\u3002 see exercises/a/b.py"
    lines = safe.wrap(text, "  ", width)
    assert max(map(safe.column_count, lines)) <= width
    assert "".join("".join(lines).split()) == text.replace(" ", "")
    assert any("exercises/a/b.py" in line for line in lines)
    assert safe.column_count(safe.shorten(text, width)) <= width
    command = "grade start \u5f62\u72b6\u3068\u30b9\u30c8\u30e9/\u30a4\u30c9\u3092"
    assert f"  {command}" in safe.wrap(f"\u5f62\u72b6:  {command}", "", width)
    (row,) = safe.two_sided_lines("\u5f62\u72b6", "5 / 10", width)
    assert safe.column_count(row) == width


FORMULA = re.compile(r"[\s\"']*[=+\-@%|]")


@given(TEXTS, TEXTS)
@FUZZ
def test_csv_cells_are_text(text: str, other: str) -> None:
    """A reader gets one row of the same cells, and no cell is a formula, however it is parted."""
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerow([safe.for_csv(text), safe.for_csv(other), "-1.5"])
    file.seek(0)
    (row,) = csv.reader(file)
    assert row == [safe.for_csv(text), safe.for_csv(other), "-1.5"]
    assert len(file.getvalue().splitlines()) == 1
    for cell, was in zip(row, (text, other), strict=False):
        assert cell.replace("'", "") == one_line(was).replace("'", "")
        parts = re.split("[,;]", unicodedata.normalize("NFKC", cell).replace("\u2212", "-"))
        assert not any(FORMULA.match(part) and not part.startswith("'") for part in parts)


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("  =1", "'  =1"),
        ("\"'=1", "'\"'=1"),
        ("\t=1", r"'\t=1"),
        ("\uff1d1", "'\uff1d1"),
        ("\u22121", "'\u22121"),
        ("ann; =1", "ann;' =1"),
        ("a\r=1\n=2", r"a\r=1\n=2"),
        ("O'Neil, Ann-Marie", "O'Neil, Ann-Marie"),
        ("a=b", "a=b"),
    ],
)
def test_formulas_get_an_apostrophe(text: str, cell: str) -> None:
    """Formulas are text, wherever a spreadsheet may find them; names stay as they are."""
    assert safe.for_csv(text) == cell


@given(TEXTS)
@FUZZ
def test_html_is_text(text: str) -> None:
    """A reader finds one element, whose text and attributes are the text."""
    shown = safe.for_html(text)
    for quote in "\"'":
        found = ElementTree.fromstring(f"<p title={quote}{shown}{quote}>{shown}</p>")
        assert ([*found], found.text or "") == ([], seen(text))
        assert found.attrib == {"title": re.sub(r"\s", " ", seen(text))}  # XML has no line breaks there


@given(TEXTS, TEXTS)
@FUZZ
def test_markdown_in_a_line_is_code(text: str, other: str) -> None:
    """A line of Markdown holds the text as code, parted at pipes only; nothing in it is markup."""
    tokens = MarkdownIt("commonmark").parse(f"x {safe.for_markdown(text)} and {safe.for_markdown(other)} y")
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    parts = tokens[1].children or []
    assert {part.type for part in parts} <= {"text", "code_inline", "text_special"}
    assert "".join(part.content for part in parts) == f"x {one_line(text)} and {one_line(other)} y"
    plain = "".join(part.content for part in parts if part.type != "code_inline")
    assert plain == f"x {'|' * text.count('|')} and {'|' * other.count('|')} y"


@given(TEXTS)
@FUZZ
def test_markdown_blocks_hold_the_text(text: str) -> None:
    """A block of Markdown is the text line by line, and what follows it is outside."""
    tokens = MarkdownIt("commonmark").parse(f"before\n\n{safe.for_markdown_block(text)}\nafter\n")
    assert [token.type for token in tokens][3:] == ["fence", "paragraph_open", "inline", "paragraph_close"]
    assert tokens[3].content.removesuffix("\n") == seen(text).removesuffix("\n")


def test_workflow_by_example() -> None:
    """One character of each command is spelled out, and nothing else."""
    assert safe.for_workflow("a::b\n  ::error::x\n##[group]") == "a::b\n  \\x3a:error::x\n\\x23#[group]"
    assert safe.for_workflow("###vso[x] ## [y]") == r"#\x23#vso[x] ## [y]"
    assert safe.for_workflow_message("50%\n") == "50%25%0A"
    assert safe.for_workflow_property("a: b, c") == "a%3A b%2C c"
