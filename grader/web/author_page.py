"""An author's page for staff: code, checks and pictures; points by hand, comments on lines, an extension."""

from __future__ import annotations

import asyncio
from functools import partial
from urllib.parse import quote

from nicegui import ui

from grader.batch.feedback import failing_function_lines
from grader.model import GradedExercise, Report
from grader.model.score import points_text
from grader.report.gradebook import rules_without_points
from grader.report.html import fragment
from grader.report.safe import for_html
from grader.report.words import rows_in_full
from grader.web import look
from grader.web.change_form import Saved, show_buttons
from grader.web.class_data import ClassFolder, PlannedChange, Snapshot

_MOST_SAID = 8
"""So many sentences that others got are offered to click."""

_CLICKED = "(event) => { const one = event.target.closest('[data-line]'); if (one) emit(one.dataset.line); }"


def show_author(folder: ClassFolder, now: Snapshot, author: str) -> None:
    """Build the page of one author: files, checks, and forms for points, comments and an extension.

    Args:
        folder: the folder of the class.
        now: the class as it is.
        author: the name of the report.
    """
    report = now.reports.get(author)
    if report is None:
        look.html(f'<h1>Not found</h1><div class="warn">No submission is by {for_html(author)}.</div>')
        return
    look.heading(", ".join(folder.name_on_page(now, one) for one in report.authors or (author,)), 1)
    _show_neighbours(folder, now, author)
    total = look.html(_total_html(report))
    shown: dict[str, ui.html] = {}

    def renew(planned: PlannedChange) -> str:
        """Show the reports after a change, and return a sentence on the author's new total."""
        if author not in planned.changed:
            return ""
        new = planned.changed[author][1]
        total.content = _total_html(new)
        for graded in new.exercises:
            shown[graded.exercise.id].content = fragment([graded])
        score = new.final_score
        return f"The total is {points_text(score.earned)} / {points_text(score.possible)} points now."

    _show_extension(folder, now, author, renew)
    for graded in report.exercises:
        path, text = now.files.get((author, graded.exercise.id), ("", b""))
        with ui.element("section").classes("card").style("margin-top:1rem"):
            with ui.element("div").classes("work two"):
                with ui.element("div").classes("edit"):
                    look.html(for_html(path or "no file"), "h2")
                    code = look.html(numbered_code_html(text, path, graded)).style("width:100%")
                with ui.element("div").classes("task"):
                    shown[graded.exercise.id] = look.html(fragment([graded]))
            _show_points_form(folder, now, author, graded, renew)
            if text:
                _show_comment_form(folder, author, graded, code)


def _show_neighbours(folder: ClassFolder, now: Snapshot, author: str) -> None:
    """Build links to the previous and the next author of the class."""
    names = list(now.reports)
    place = names.index(author)
    with ui.element("nav").classes("in-line").props('aria-label="Authors"'):
        for words, at in (("Previous", place - 1), ("Next", place + 1)):
            if 0 <= at < len(names):
                ui.link(f"{words}: {folder.name_on_page(now, names[at])}", f"/author/{quote(names[at], safe='')}")


def _total_html(report: Report) -> str:
    total = report.final_score
    undecided = f", {points_text(total.undecided)} undecided" if total.undecided else ""
    text = f"<p><b>{points_text(total.earned)} / {points_text(total.possible)} points{undecided}</b></p>"
    return text + (f'<p class="soft">{for_html(report.policy.explained)}</p>' if report.policy is not None else "")


def numbered_code_html(text: bytes, path: str = "", graded: GradedExercise | None = None) -> str:
    """Return a file as HTML with line numbers that can be clicked.

    Comments of staff stand below their lines, and lines that raised are marked.

    Args:
        text: the text of the file.
        path: the path of the file.
        graded: the graded exercise, which has the checks and the comments; None to show neither.
    """
    comments = {one.line: one.text for one in graded.comments if one.line} if graded is not None else {}
    failing = rows_in_full(graded) if graded is not None and text else ()
    raised = {
        number
        for row in failing
        if graded is not None
        for number, _, is_raised in failing_function_lines(graded, path, text, row)
        if is_raised
    }
    rows = []
    for number, line in enumerate(text.decode("utf-8", "replace").splitlines(), 1):
        place = f'<span class="nr" data-line="{number}">{number:>4}</span>'
        code = f"<mark>{for_html(line)}</mark>" if number in raised else for_html(line)
        rows.append(f"{place} {code}\n")
        if number in comments:
            rows.append(f'<span class="said">{for_html(comments[number])}</span>\n')
    return f'<pre class="code numbered" tabindex="0" style="max-height:40rem">{"".join(rows)}</pre>'


# -- points


def _show_points_form(folder: ClassFolder, now: Snapshot, author: str, graded: GradedExercise, saved: Saved) -> None:
    """Build the form in which staff enter points by hand, with a reason."""
    exercise = graded.exercise
    waiting = rules_without_points(graded)
    with ui.element("details").props("open" if waiting else ""):
        look.html("Give points by hand", "summary")
        with ui.element("div").classes("in-line"):
            titles = {row.check.id: f"{row.check.contract} {row.check.title}".strip() for row in graded.checks}
            checks = {"": "the whole exercise", **titles}
            first = waiting[0] if waiting else ""
            check = ui.select(checks, value=first, label="Check").props("outlined dense").style("min-width:14rem")
            points = ui.input("Points").props("outlined dense").style("width:7rem")
            why = ui.input("Reason, which the author reads").props("outlined dense").style("min-width:min(24rem,100%)")
        sentences = ui.element("div").classes("in-line")
        look.html('<p class="soft">Without points and a reason, what was entered before is taken back.</p>')

        def offer() -> None:
            sentences.clear()
            with sentences:
                reasons = _offered_reasons(now, graded, str(check.value))
                if reasons:
                    look.html("Click a reason:", "span").classes("soft")
                for worth, text in reasons:
                    words = f"{worth}: {text}" if worth else text
                    look.button(words, partial(_fill_fields, points, why, worth, text))

        check.on_value_change(offer)
        offer()

        def plan() -> PlannedChange:
            fields = {"exercise": exercise.id, "check": check.value, "points": points.value, "why": why.value}
            return folder.plan_override(author, {key: str(value or "") for key, value in fields.items()})

        show_buttons(plan, (check, points, why), saved)


def _offered_reasons(now: Snapshot, graded: GradedExercise, check: str) -> list[tuple[str, str]]:
    """Return pairs of points and reason that staff can click, in place of typing them.

    A pair is such as `("0.5", "The shape is right")`. First come those of the rubric, then what staff gave other
    authors, then titles of lost checks with "" as points.
    """
    rubric = [(points_text(line.points), line.says) for line in graded.exercise.rubrics.get(check, ())]
    others = [row for row in now.staff_reasons(graded.exercise.id, check) if row not in rubric]
    lost = [
        ("", f"{row.check.contract} {row.check.title}".strip())
        for row in graded.checks
        if row.verdict.is_lost and row.check.title and check in ("", row.check.id)
    ]
    return [*rubric, *others[:_MOST_SAID], *lost]


def _fill_fields(points: ui.input, why: ui.input, worth: str, text: str) -> None:
    why.value = text
    if worth:
        points.value = worth


# -- comments


def _show_comment_form(folder: ClassFolder, author: str, graded: GradedExercise, code: ui.html) -> None:
    """Build the form in which staff comment on a line of code.

    A click on a line number in `code` fills in the number.
    """
    with ui.element("details") as details:
        look.html("Comment on a line of code", "summary")
        with ui.element("div").classes("in-line"):
            line = ui.input("Line").props("outlined dense").style("width:7rem")
            comment = ui.textarea("Comment, which the author reads").props("outlined dense autogrow")
            comment.style("min-width:min(30rem,100%)")
        look.html('<p class="soft">An empty comment takes back the one on that line.</p>')

        def plan() -> PlannedChange:
            return folder.plan_comment(author, graded.exercise.id, str(line.value or ""), str(comment.value or ""))

        async def saved(planned: PlannedChange) -> str:
            del planned
            now = await asyncio.to_thread(folder.read)
            path, text = now.files.get((author, graded.exercise.id), ("", b""))
            code.content = numbered_code_html(text, path, now.graded(author, graded.exercise.id))
            return 'The author reads it after <a href="../return">Return</a> has written the pages.'

        show_buttons(plan, (line, comment), saved, scores=False)

    def chosen(number: str) -> None:
        line.value = number
        details.props("open")
        comment.run_method("focus")

    code.on("click", lambda event: chosen(str(event.args)), js_handler=_CLICKED)


# -- the due date


def _show_extension(folder: ClassFolder, now: Snapshot, author: str, saved: Saved) -> None:
    """Show the form that gives an author a later due time, if the hand-in has a due time."""
    handin = now.rules.handin
    if handin is None or handin.due is None:
        return
    with ui.element("details").classes("card"):
        look.html("Give an extension", "summary")
        look.html(f"<p>{for_html(handin.title)} is due {handin.due:%Y-%m-%d %H:%M %Z} for everybody.</p>")
        until = ui.input("Due for this author").props('outlined dense type="datetime-local" stack-label')
        until.style("width:16rem")

        def plan() -> PlannedChange:
            return folder.plan_extension(author, handin, str(until.value or ""))

        show_buttons(plan, (until,), saved)
