"""A task as HTML: paragraphs, examples, and the numbered rules, each with its verdict."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape

from grader.course.load import join_rule_lines
from grader.model import Exercise, GradedCheck, Verdict
from grader.report.safe import for_html

_RULE = re.compile(r"(C[0-9]+)[.:)]?\s+")
_CODE = re.compile(r"`([^`]+)`")
MARKS = {"passed": ("✓", "pass"), "failed": ("✗", "FAIL"), "open": ("·", "open")}
"""How a rule stands: its mark, and the same as a word."""


def rule_marks(checks: Sequence[GradedCheck]) -> dict[str, str]:
    """Return the state of each rule, such as `{"C1": "passed", "C2": "failed"}`.

    The state is "failed" if a check of the rule lost points, "passed" if all its checks passed, else "open". A check
    that was skipped, as the function is not written yet, counts as open.
    """
    marks: dict[str, str] = {}
    for row in checks:
        rule = row.check.contract
        if not rule:
            continue
        # What is not written yet is open, as before the first line.
        lost = row.verdict.is_lost and row.verdict is not Verdict.SKIPPED
        now = "failed" if lost else "passed" if row.verdict is Verdict.PASSED else "open"
        before = marks.get(rule, now)
        marks[rule] = "failed" if "failed" in (now, before) else "open" if "open" in (now, before) else "passed"
    return marks


def task_html(exercise: Exercise, marks: Mapping[str, str]) -> str:
    """Return the task of an exercise as HTML.

    Args:
        exercise: the exercise.
        marks: the state of each rule, as `rule_marks` returns it; a rule that is missing was not examined.
    """
    first, _, rest = exercise.task.partition("\n")
    text = rest if first.strip() == exercise.title else exercise.task
    return "".join(_block_html(lines, marks) for lines in _blocks(text.strip("\n").split("\n")))


def _blocks(lines: Sequence[str]) -> Iterator[list[str]]:
    """Yield the blocks of a task: the lines of each paragraph, rule or example.

    For the lines `C1 one`, `    more` and `C2 two` they are `["C1 one", "    more"]` and `["C2 two"]`.
    """
    block: list[str] = []
    for line in lines:
        starts_rule = bool(_RULE.match(line))
        is_code = line.startswith("    ") and not (
            block and _RULE.match(block[0]) and not line.strip().startswith(">>>")
        )
        was_code = bool(block) and block[0].startswith("    ")
        if block and (not line.strip() or starts_rule or (is_code != was_code)):
            if not line.strip() and was_code:
                block.append(line)
                continue
            yield block
            block = []
        if line.strip():
            block.append(line)
    if block:
        yield block


def _block_html(lines: Sequence[str], marks: Mapping[str, str]) -> str:
    """Return a paragraph, a rule with its mark, or an example of a task as HTML."""
    if lines[0].startswith("    "):
        shown = "\n".join(line.removeprefix("    ") for line in lines).rstrip()
        return f'<pre class="code" tabindex="0">{for_html(shown)}</pre>'
    text = " ".join(line.strip() for line in lines)
    found = _RULE.match(text)
    if found is None:
        return f"<p>{inline(text)}</p>"
    rule = found[1]
    state = marks.get(rule, "open")
    mark, word = MARKS[state]
    head = f'<span class="mark" aria-hidden="true">{mark}</span><b>{rule}</b><span class="word">{word}</span>'
    # Rows of a matrix or of code, and items of a list, are lines of their own.
    own = join_rule_lines("\n".join(lines)[found.end() :], found.end()).replace("\n    ", "\n")
    body = f'<span class="text">{inline(own)}</span>'
    return f'<div class="rule {state}" data-rule="{rule}">{head}{body}</div>'


def inline(text: str) -> str:
    """Return a line of text as HTML, with what stands between backquotes as code.

    "Return `x`." becomes "Return <code>x</code>.".
    """
    return _CODE.sub(lambda found: f"<code>{found[1]}</code>", for_html(text))


def preformatted_html(text: str) -> str:
    """Return a text as preformatted HTML, a `<pre>` element; "" for ""."""
    return f'<pre class="code" tabindex="0">{for_html(text)}</pre>' if text else escape(text)
