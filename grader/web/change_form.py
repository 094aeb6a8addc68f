"""Two buttons below a form of staff's: what it changes is shown first, and only what was shown is saved."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from nicegui import ui
from nicegui.elements.mixins.value_element import ValueElement

from grader.model import Report
from grader.model.errors import GraderError
from grader.model.score import points_text
from grader.report.safe import for_html
from grader.web import look
from grader.web.class_data import PlannedChange
from grader.web.task import preformatted_html

_MOST_ROWS = 60

Saved = Callable[[PlannedChange], str | Awaitable[str]]
"""A function that returns the HTML to show after a change was saved."""


def show_buttons(
    plan: Callable[[], PlannedChange], fields: Sequence[ValueElement[Any]], saved: Saved, *, scores: bool = True
) -> None:
    """Build two buttons below a form: "Show what it changes" and "Save".

    Args:
        plan: the function that works out the change from the fields; it runs in a thread.
        fields: the fields of the form; after an input, the change must be shown again before it is saved.
        saved: the function that returns the HTML to show after the change was saved.
        scores: True if the change may change scores.
    """
    previews = 0
    current: int | None = None  # the number of the preview that is about the fields as they are now
    shown: PlannedChange | None = None
    save_button: list[ui.element] = []

    def forget() -> None:
        nonlocal current, shown
        current = shown = None
        save_button[0].props("disabled")

    def forget_after_input() -> None:
        if current is not None:
            said.content = "<p>The form has changed. Show again what it changes.</p>"
        forget()

    async def preview() -> None:
        nonlocal previews, current, shown
        forget()
        previews += 1
        mine = current = previews
        said.content = '<p class="soft">Working it out ...</p>'
        planned = problem = None
        try:
            planned = await asyncio.to_thread(plan)
        except GraderError as error:
            problem = error
        # A field may have changed meanwhile, or another preview may have begun: then this one is about other fields.
        if current != mine:
            return
        shown = planned
        if planned is None:
            said.content = f"<p>{for_html(str(problem))}</p>"
            return
        save_button[0].props(remove="disabled")
        said.content = _preview_html(planned, scores=scores)

    async def save() -> None:
        """Write the change that was shown last, and show what came of it."""
        if (planned := shown) is None:
            said.content = "<p>Show what it changes first.</p>"
            return
        forget()
        try:
            await asyncio.to_thread(planned.write)
        except GraderError as error:
            said.content = f"<p>{for_html(str(error))}</p>"
            return
        more = saved(planned)
        told = more if isinstance(more, str) else await more
        said.content = f"<p><b>Saved in {for_html(planned.file)}.</b> {told}</p>"

    with ui.element("div").classes("in-line"):
        look.button("Show what it changes", preview)
        save_button.append(look.button("Save", save, first=True).props("disabled"))
    said = look.html("").props('role="status" aria-live="polite"').style("width:100%")
    for one in fields:
        one.on_value_change(forget_after_input)


def _preview_html(planned: PlannedChange, *, scores: bool) -> str:
    """Return what a planned change does, as HTML.

    That is the scores before and after, and the diff of the file. If `scores` is false, a sentence says that no points
    change.
    """
    parts = ["<p><b>"]
    if not scores:
        parts.append("It changes no points.")
    elif not planned.changed:
        parts.append("No score changes.")
    elif len(planned.changed) == 1:
        ((author, (old, new)),) = planned.changed.items()
        parts.append(f"{for_html(author)}: {change_text(old, new)}")
    else:
        parts.append(f"{len(planned.changed)} submissions change.")
    parts.append("</b> Nothing is saved yet.</p>")
    if planned.replaces:
        parts.append(f'<div class="warn">{for_html(planned.replaces)}</div>')
    if scores and planned.changed:
        parts.append(_changes_table(planned.changed))
    if planned.diff:
        parts.append(f"<p>In {for_html(planned.file)}:</p>{preformatted_html(planned.diff)}")
    return "".join(parts)


def change_text(old: Report, new: Report) -> str:
    """Return a sentence on how a score changes, such as "7 becomes 8.5 of 10 points"."""
    before, after = old.final_score, new.final_score
    if before == after:
        return f"{points_text(after.earned)} of {points_text(after.possible)} points, as before."
    return (
        f"{points_text(before.earned)} becomes {points_text(after.earned)} of {points_text(after.possible)} points."
        + (f" {points_text(after.undecided)} are undecided." if after.undecided else "")
    )


def _changes_table(changed: Mapping[str, tuple[Report, Report]]) -> str:
    """Return an HTML table of the scores before and after a change, by author."""
    rows = [
        f'<tr><td>{for_html(author)}</td><td class="num">{points_text(old.final_score.earned)}</td>'
        f'<td class="num">{points_text(new.final_score.earned)}</td>'
        f"<td>{for_html(new.policy.explained if new.policy else '')}</td></tr>"
        for author, (old, new) in list(changed.items())[:_MOST_ROWS]
    ]
    more = len(changed) - _MOST_ROWS
    note = f"<p>{more} more submissions change.</p>" if more > 0 else ""
    return (
        '<div style="overflow-x:auto" tabindex="0" role="region" aria-label="What changes"><table class="list"><thead>'
        '<tr><th scope="col">Author</th><th scope="col" class="num">Before</th><th scope="col" class="num">After</th>'
        f'<th scope="col">What counts</th></tr></thead><tbody>{"".join(rows)}</tbody></table></div>{note}'
    )
