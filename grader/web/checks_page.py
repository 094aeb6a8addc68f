"""The checks of an exercise, as the class fares with them: a wrong one is made void here."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from nicegui import ui

from grader.model import Exercise
from grader.model.score import is_void
from grader.report.safe import for_html
from grader.web import look
from grader.web.change_form import show_buttons
from grader.web.class_data import ClassFolder, PlannedChange, Snapshot


def show_exercises(now: Snapshot) -> None:
    """Build the page that lists the exercises, each with the check that most submissions lose."""
    look.heading("Checks", 1)
    for tally in now.overview.exercises:
        with ui.element("p"):
            ui.link(f"{tally.exercise.number} {tally.exercise.title}", f"/checks/{tally.exercise.id}")
            if tally.hardest is not None:
                check, lost = tally.hardest
                look.html(f" {lost} lose {for_html(f'{check.contract} {check.title}')}", "span").classes("soft")


def show_checks(folder: ClassFolder, now: Snapshot, id: str) -> None:
    """Build the page of an exercise's checks.

    A table shows how many submissions pass or lose each check. Below it are forms that make a check void, or make a
    void check count again.

    Args:
        folder: the folder of the class.
        now: the class as it is.
        id: the id of the exercise.
    """
    tally = next((one for one in now.overview.exercises if one.exercise.id == id), None)
    if tally is None:
        look.html('<h1>Not found</h1><div class="warn">Nothing of this exercise was handed in.</div>')
        return
    exercise = tally.exercise
    look.heading(f"{exercise.number} {exercise.title}: checks", 1)
    rows = "".join(
        f"<tr><td>{for_html(check.contract)}</td><td>{for_html(check.title)}"
        f"{' (void)' if is_void(check.id, exercise.void) else ''}</td>"
        f'<td class="num">{counts["passed"]}</td><td class="num">{counts["lost"]}</td>'
        f'<td class="num">{counts["open"]}</td></tr>'
        for check, counts in tally.checks.values()
    )
    look.html(
        '<div style="overflow-x:auto" tabindex="0" role="region" aria-label="Checks"><table class="list">'
        '<caption class="soft">How many submissions pass, lose or have it undecided</caption>'
        '<thead><tr><th scope="col">Rule</th><th scope="col">Check</th><th scope="col" class="num">Pass</th>'
        f'<th scope="col" class="num">Lost</th><th scope="col" class="num">Open</th></tr></thead><tbody>{rows}</tbody>'
        "</table></div>"
    )
    names = {
        check.id: f"{check.contract} {check.title}".strip()
        for check, _ in tally.checks.values()
        if not is_void(check.id, exercise.void) and check.id not in exercise.staff
    }
    with ui.element("section").classes("card").style("margin-top:1rem"):
        look.heading("Make a check void")
        look.html(
            "<p>For a check that turned out wrong: everybody who handed in an answer gets its points, and it neither "
            "holds points back nor decides whether a value was right.</p>"
        )
        if names:
            _show_form(exercise, names, "Check", lambda check: folder.plan_void(folder.exercise(exercise.id), check))
        else:
            look.html("<p>There is no check left that is not void.</p>")
    if exercise.void:
        titles = {check.id: f"{check.contract} {check.title}".strip() for check, _ in tally.checks.values()}
        void = {id: titles.get(id, id) for id in exercise.void}
        with ui.element("section").classes("card").style("margin-top:1rem"):
            look.heading("Count a void check again")
            _show_form(
                exercise, void, "Void check", lambda check: folder.plan_unvoid(folder.exercise(exercise.id), check)
            )


def _show_form(exercise: Exercise, names: dict[str, str], label: str, plan: Callable[[str], PlannedChange]) -> None:
    """Build a form in which staff choose a check, then preview and save a change of it.

    Args:
        exercise: the exercise of the checks.
        names: the names of the checks in the box, by the id that `plan` gets.
        label: the label of the box.
        plan: a function that returns the planned change for the id of a check.
    """
    check = ui.select(names, value=next(iter(names)), label=label).props("outlined dense")
    check.style("min-width:min(24rem,100%)")

    def saved(planned: PlannedChange) -> str:
        del planned
        return (
            f'<a href="{escape(exercise.id)}">Read this page again</a> to take it back; <a href="../again">Grade '
            "again</a> brings the gradebook up to date."
        )

    show_buttons(lambda: plan(str(check.value)), (check,), saved)
