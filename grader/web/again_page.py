"""The class graded again, one author or all, with progress; and what regrades and staff changed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from nicegui import ui

from grader.batch.changes import RegradedExercise
from grader.model.errors import GraderError
from grader.model.score import pluralize, points_text
from grader.report.safe import for_html
from grader.web import look
from grader.web.class_data import ClassFolder, Snapshot
from grader.web.page_words import in_page_words
from grader.web.regrade import Regrade

_REFRESH_S = 0.5
_LAST_LINES = 12


def show_regrade(folder: ClassFolder, now: Snapshot, regrade: Regrade) -> None:
    """Build the page on which staff grade the class again.

    Args:
        folder: the folder of the class.
        now: the class as it is.
        regrade: the object that starts and stops runs; its run may be going on.
    """
    look.heading("Grade again", 1)
    look.html(
        "<p>What did not change is not run again. Points by hand, void checks and extensions go into the gradebook.</p>"
    )
    with ui.element("section").classes("card"):
        place = ui.input(
            "Folder or zip of the submissions, on the machine of this page",
            value=regrade.folder or now.options.submissions,
        )
        place.props("outlined dense").style("width:100%")
        with ui.element("div").classes("in-line").style("margin-top:.5rem"):
            names = {"": "everybody", **{author: folder.name_on_page(now, author) for author in now.reports}}
            who = ui.select(names, value="", label="Whose", with_input=True).props("outlined dense")
            who.style("min-width:14rem")
            kinds = {"": "what changed", "broken": "what is broken", "all": "all, though nothing changed"}
            rerun = ui.select(kinds, value="", label="What").props("outlined dense").style("min-width:14rem")
        with ui.element("div").classes("in-line"):
            lower = ui.checkbox("A lower score does not count", value=now.options.never_lower)
            best = ui.checkbox("The best of several attempts counts, not the latest", value=now.options.best)
        said = look.html("").props('role="status" aria-live="polite"').style("width:100%")

        def begin() -> None:
            """Start a run with the options on the page; show a sentence if the folder does not exist."""
            typed = str(place.value or "").strip()
            if not typed or not Path(typed).expanduser().exists():
                said.content = f"<p>There is no {for_html(typed) or 'folder'}; type the path of the submissions.</p>"
                return
            handin = now.rules.handin.id if now.rules.handin is not None else None
            path = Path(typed).expanduser().resolve()
            options = replace(
                now.options,
                authors=(str(who.value),) if who.value else (),
                rerun=str(rerun.value or ""),
                never_lower=bool(lower.value),
                best=bool(best.value),
                submissions=str(path),
                layout=now.options.layout if str(path) == now.options.submissions else None,
            )
            regrade.begin(folder.course, handin, options)
            timer.activate()
            show()

        def show() -> None:
            stop.set_visibility(regrade.is_running)
            start.set_visibility(not regrade.is_running)
            said.content = _progress_html(regrade)
            if not regrade.is_running:
                timer.deactivate()

        with ui.element("div").classes("in-line").style("margin-top:.5rem"):
            start = look.button("Grade again", begin, first=True)
            stop = look.button("Stop", regrade.stop)
        timer = ui.timer(_REFRESH_S, show, active=regrade.is_running)
        show()


def _progress_html(regrade: Regrade) -> str:
    lines = "".join(f"<li>{for_html(line)}</li>" for line in regrade.lines[-_LAST_LINES:])
    shown = f"<ul>{lines}</ul>" if lines else ""
    if regrade.is_running:
        share = 100 * regrade.done // max(1, regrade.total)
        many = f"{regrade.done} of {regrade.total} submissions" if regrade.total else "Reading the submissions ..."
        bar = f'<div class="bar" aria-hidden="true"><div style="width:{share}%"></div></div>'
        return f"<p><b>{many}</b></p>{bar}{shown}"
    if regrade.problem:
        return f'<div class="warn">{for_html(regrade.problem)}</div>{shown}'
    return f'<p><b>Done.</b> <a href="changes">See what changed</a>.</p>{shown}' if shown else ""


async def show_changes(folder: ClassFolder) -> None:
    """Build the page that lists what the last regrade changed, and what staff changed."""
    look.heading("Changes", 1)
    try:
        at, changes, by_staff, notes = await asyncio.to_thread(folder.changes)
    except GraderError as error:
        look.html(f'<div class="warn">{for_html(str(error))}</div>')
        return
    look.heading("The last regrade")
    if not at:
        look.html("<p>Nothing was graded again yet: every score is the first one.</p>")
    else:
        when = for_html(at[:16].replace("T", " "))
        look.html(f"<p>Graded again on {when} UTC: {pluralize(len(changes), 'exercise')} with another result.</p>")
    _show_changes(changes, "By a regrade")
    look.heading("By staff: as checks give it, and as it counts")
    if not by_staff:
        look.html("<p>Staff changed no points.</p>")
    _show_changes(by_staff, "By staff")
    for note in notes:
        look.html(f'<p class="soft">{for_html(in_page_words(note))}</p>')


def _show_changes(changes: Sequence[RegradedExercise], label: str) -> None:
    if not changes:
        return
    rows = "".join(_change_row(change) for change in changes)
    look.html(
        f'<div style="overflow-x:auto" tabindex="0" role="region" aria-label="{label}"><table class="list"><thead><tr>'
        '<th scope="col">Author</th><th scope="col">Exercise</th><th scope="col" class="num">Before</th>'
        '<th scope="col" class="num">After</th><th scope="col">Checks</th><th scope="col">Why</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    ).style("width:100%")


def _change_row(change: RegradedExercise) -> str:
    checks = []
    for id, *both in change.changed_checks:
        ends = [f"{end[0]} {points_text(end[1])}" if end else "none" for end in both]
        checks.append(f"{for_html(id)}: {for_html(' → '.join(ends))}")
    before, after = (points_text(one.score.earned) for one in (change.before, change.after))
    return (
        f"<tr><td>{for_html(change.author)}</td><td>{for_html(change.after.exercise.number)}</td>"
        f'<td class="num">{before}</td><td class="num">{after}</td><td>{"<br>".join(checks)}</td>'
        f"<td>{for_html(in_page_words(change.why))}</td></tr>"
    )
