r"""Student text made safe for the place where it is shown.

Whatever the place, characters that cannot be seen, move the cursor or reverse what is read are spelled out: a reader
sees `\x1b` where there was an escape character. Line breaks and tabs stay where the place has room for them. How long
a text may be is its caller's to say.
"""

from __future__ import annotations

import csv
import html
import io
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from click import unstyle

WIDTH = 80
"""Columns of a terminal, if nothing says otherwise."""

_UNSEEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
_BLANK = "\u115f\u1160\u2800\u3164\uffa0"
"""Characters that count as letters or symbols, and are empty."""

_MOST_MARKS = 4
"""Marks on one character, such as accents: more of them cover the lines above and below."""

_LEADS_FORMULA = "=+-@%|\u2212"
_AFTER_SEPARATOR = re.compile(r"(?<=[,;])[\s'\"]*[=+\-@%|\u2212\uff05\uff0b\uff0d\uff1d\uff20\uff5c]")
_TICKS = re.compile("`+")
_LEADS_COMMAND = re.compile(r"^(\s*):(?=:)", re.MULTILINE)
_COMMAND = re.compile(r"(?<=  )grade (?:\S| (?! ))+")
_OPENS_COMMAND = re.compile(r"#(?=#\w*\[)")


def for_terminal(text: str, *, one_line: bool = False) -> str:
    r"""Spell out characters that could move the cursor, change colours or reverse text.

    An escape character becomes the four characters `\x1b`. Tabs become blanks.

    Args:
        text: the text that is to be shown.
        one_line: True if line breaks are spelled out, too, so that a name cannot pass for another row.
    """
    return _spell_out_invisible(text, "\t" if one_line else "\n\t").expandtabs()


def column_count(text: str) -> int:
    """Return how many columns of a terminal a line of safe text takes.

    By rich's table, Chinese, Japanese and Korean characters and emojis take two columns. An accent takes none, even as
    a character of its own.
    """
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def pad(text: str, width: int) -> str:
    """Return a line of safe text, padded with blanks to `width` columns."""
    return text + " " * (width - column_count(text))


def wrap(text: str, indent: str, width: int, further: str = "  ") -> list[str]:
    """Wrap a line of safe text to this width, without breaking commands and paths.

    A command that stands after two blanks, as in `To go on:  grade next`, stays in one line, since it will be copied.
    Words that are joined by NUL stay together, too; each NUL becomes a blank. A word that is longer than a line, such
    as a path, goes beyond the width. Only a word with characters of two columns, such as Chinese ones, is broken. (rich
    cannot wrap like this: it folds or crops a long word, or wraps nothing at all; see `findings/rich_long_words.sh`.)

    Args:
        text: a safe text without line breaks.
        indent: the indentation of the first line.
        width: the width of a line, in columns.
        further: the further indentation of lines after the first.
    """
    words, room = _COMMAND.sub(lambda it: it[0].replace(" ", "\0"), text).split(" "), width - len(indent + further)
    lines, line, is_empty = list[str](), indent, True
    for word in [part for whole in words for part in _split_wide_word(whole, room)]:
        if not is_empty and column_count(f"{line} {word}".replace("\0", " ")) > width:
            lines.append(line)
            line, is_empty = indent + further, True
            if not word:  # of two blanks the first was at the end of the line
                continue
        line += word if is_empty else f" {word}"
        is_empty = False
    return [line.replace("\0", " ").rstrip() for line in (*lines, line)]


def _split_wide_word(word: str, room: int) -> list[str]:
    """Split a word that is too wide for `room` and has characters of two columns.

    Any other word is returned whole, and so is a word with NUL.
    """
    if "\0" in word or column_count(word) <= max(room, 2) or not any(column_count(char) == 2 for char in word):
        return [word]
    from rich.cells import chop_cells

    return chop_cells(word, max(room, 2))


def prose(text: str, width: int, indent: str = "", further: str = "") -> Iterator[str]:
    """Yield text made safe for a terminal, each of its lines wrapped; see `wrap`.

    Args:
        text: the text, not made safe yet.
        width: the width of a line, in columns.
        indent: the indentation of the first line.
        further: the further indentation of lines after the first.
    """
    for line in for_terminal(text).split("\n"):
        yield from wrap(line, indent, width, further)


def shorten(text: str, room: int) -> str:
    """Shorten a line of safe text to at most `room` columns."""
    if column_count(text) <= room:
        return text
    from rich.cells import set_cell_size

    return f"{set_cell_size(text, max(0, room - 4)).rstrip()} ..."  # room for the dots


def two_sided_lines(left: str, right: str, width: int, *, head: str = "") -> list[str]:
    """Return lines of a text at the left, with another text at the end of the first line.

    `two_sided_lines("Shapes", "3 / 4", 20)` returns `["Shapes         3 / 4"]`. The left text is made safe and wrapped.

    Args:
        left: the left text.
        right: the right text, in the first line.
        width: columns of all of it.
        head: a safe text before the left one, such as a verdict; further lines stand below `left`.
    """
    taken = column_count(head and unstyle(head))
    room = width - len(right) - 1 - taken
    first, *rest = wrap(for_terminal(left, one_line=True), "", room, "" if head else "  ")
    # A single word may be too long.
    return [f"{head}{pad(shorten(first, room), room)} {right}".rstrip(), *(" " * taken + line for line in rest)]


def for_csv(text: str) -> str:
    """Return text as one line that no spreadsheet evaluates as a formula.

    `=1+1` becomes `'=1+1`. An apostrophe also goes before a formula that hides behind blanks, quotes or full-width
    signs, or that follows a comma or a semicolon, which separate cells in one country or another. `csv.writer` still
    has to quote the line. Use this for text only: a number of ours may begin with a minus.
    """
    line = _spell_out_invisible(text, "")
    first = unicodedata.normalize("NFKC", line).lstrip(" \t\"'")[:1]
    # Looked at as a spreadsheet may: full-width signs as plain ones, and behind what it leaves out.
    guard = "'" if text[:1] in ("\t", "\r", "\n") or (first and first in _LEADS_FORMULA) else ""
    return guard + _AFTER_SEPARATOR.sub(lambda match: f"'{match[0]}", line)


def csv_text(rows: Iterable[Sequence[str]]) -> str:
    """Return a table as the text of a CSV file.

    A cell with a text that we did not write must have passed through `for_csv`.
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def for_html(text: str) -> str:
    """Make text safe for an HTML element, or for the value of an attribute in quotes.

    `<b>` becomes `&lt;b&gt;`, and invisible characters are spelled out. That does not protect in scripts and style
    sheets, nor in attributes that hold an address or a script.
    """
    return html.escape(_spell_out_invisible(text), quote=True)


def for_markdown(text: str) -> str:
    """Return text as code within a line or a cell of Markdown, so that no markup is active.

    `@ada` is put between backticks, as no link, mention or reference works in code. A backslash would not do: GitHub
    and GitLab look for mentions and references after they have parsed the text.
    """
    return r"\|".join(_code_span(part) for part in _spell_out_invisible(text, "").split("|"))


def for_markdown_block(text: str) -> str:
    """Return text as a fenced block of code in Markdown.

    Invisible characters are spelled out. The fence is longer than any run of backticks in the text. Do not indent the
    lines of the block.
    """
    body = _spell_out_invisible(text)
    fence = "`" * max(3, 1 + _longest_ticks(body))
    return f"{fence}text\n{body}{'' if body.endswith(chr(10)) or not body else chr(10)}{fence}\n"


def for_workflow(text: str) -> str:
    r"""Make lines safe for a CI system's log, so that the system runs none as a command.

    `::error::` becomes `\x3a:error::`. GitHub looks for `::command::` at the beginning of a line and for `##[command]`
    anywhere, Azure for `##vso[command]` anywhere; one character of each is spelled out. GitLab's sections begin with
    control characters.
    """
    return _OPENS_COMMAND.sub(r"\\x23", _LEADS_COMMAND.sub(r"\1\\x3a", _spell_out_invisible(text)))


def for_workflow_message(text: str) -> str:
    """Make text safe as the message of a command of GitHub Actions: what follows `::error::`.

    `50 %` becomes `50 %25`, and a line break becomes `%0A`.
    """
    return for_workflow(text).replace("%", "%25").replace("\n", "%0A")


def for_workflow_property(text: str) -> str:
    """Make text safe as a property of a command of GitHub Actions.

    In `::error title=...::`, `title` is a property. `a:b, c` becomes `a%3Ab%2C c`.
    """
    return for_workflow_message(text).replace(":", "%3A").replace(",", "%2C")


def _spell_out_invisible(text: str, allowed: str = "\n\t") -> str:
    r"""Spell out all characters that cannot be seen, except for the allowed ones.

    An escape character becomes the four characters `\x1b`.
    """
    if text.isascii() and text.isprintable():
        return text
    out: list[str] = []
    marks = _MOST_MARKS  # nothing to put a mark on yet
    # Character by character: what a mark does depends on what stands before it.
    for char in text:
        kind = unicodedata.category(char)
        if kind in ("Mn", "Me"):
            marks += 1
            out.append(char if marks <= _MOST_MARKS else _spell_out(char))
            continue
        seen = char in allowed or not (kind in _UNSEEN or char in _BLANK)
        marks = 0 if seen and not char.isspace() else _MOST_MARKS
        out.append(char if seen else _spell_out(char))
    return "".join(out)


def _spell_out(char: str) -> str:
    return char.encode("unicode_escape", "surrogatepass").decode("ascii")


def _code_span(text: str) -> str:
    """Return a text as a code span of Markdown; "" for an empty text, which cannot be one."""
    if not text:
        return ""
    ticks = "`" * (1 + _longest_ticks(text))
    # A reader of Markdown takes one blank from each end, and ticks at an end would join the fence.
    pad = " " if text[0] in " `" or text[-1] in " `" else ""
    return f"{ticks}{pad}{text}{pad}{ticks}" if text.strip(" ") else f"{ticks}{text}{ticks}"


def _longest_ticks(text: str) -> int:
    return max(map(len, _TICKS.findall(text)), default=0)
