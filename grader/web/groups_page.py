"""Answers that no known mistake explains: groups, two answers of one side by side, and a draft of a known mistake."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from urllib.parse import quote

from nicegui import ui

from grader.batch.drafts import STEPS
from grader.grading.unexplained import SimilarSubmissions, lost_checks
from grader.model.errors import GraderError
from grader.model.score import join_names, pluralize
from grader.report.html import fragment
from grader.report.safe import for_html
from grader.report.words import VERDICTS
from grader.web import look
from grader.web.author_page import numbered_code_html
from grader.web.change_form import show_buttons
from grader.web.class_data import ClassFolder, PlannedChange, Snapshot
from grader.web.editor import show_editor

_FEW = 4
"""So many lost checks of a group are named in the list of groups."""


def show_groups(folder: ClassFolder, now: Snapshot) -> None:
    """Build the page that lists answers that no known mistake explains, grouped by behaviour."""
    look.heading("Answers that no known mistake explains", 1)
    if not now.overview.groups:
        look.html("<p>All lost points are explained by known mistakes.</p>")
        return
    look.html("<p>Answers of a group behave alike. Open one to read two of them side by side.</p>")
    for group in now.overview.groups:
        _show_group_card(folder, now, group)


def _show_group_card(folder: ClassFolder, now: Snapshot, group: SimilarSubmissions) -> None:
    """Build the card of a group on the page of all groups.

    It has the number of answers, their authors, and the first checks that they lose.
    """
    members = now.members(group)
    with ui.element("section").classes("card").style("margin-top:.75rem"):
        with ui.element("h2"):
            function = f", {group.function}" if group.function else ""
            words = f"{group.exercise.number} {group.exercise.title}{function}, group {group.name}"
            ui.link(f"{words}: {pluralize(len(members), 'answer')}", address_of(group))
        look.html(f'<p class="soft">{for_html(join_names([folder.name_on_page(now, one) for one in members]))}</p>')
        graded = now.graded(members[0], group.exercise.id)
        rows = lost_checks(graded, group.function) if graded is not None else []
        lost = "".join(
            f"<li><b>{VERDICTS[row.verdict][0]}</b> {for_html(f'{row.check.contract} {row.check.title}')}</li>"
            for row in rows[:_FEW]
        )
        more = f"<li>{pluralize(len(rows) - _FEW, 'more check')}</li>" if len(rows) > _FEW else ""
        look.html(f"<ul>{lost}{more}</ul>")


def address_of(group: SimilarSubmissions) -> str:
    """Return the address of the page of a group, such as "/group/passport/4071"."""
    return f"/group/{group.exercise.id}/{quote(group.name, safe='')}"


def show_group(folder: ClassFolder, now: Snapshot, exercise: str, name: str) -> None:
    """Build the page of a group: its answers, and a form for a draft of a known wrong answer.

    Args:
        folder: the folder of the class.
        now: the class as it is.
        exercise: the id of the exercise.
        name: the name of the group.
    """
    group = next((one for one in now.overview.groups if (one.exercise.id, one.name) == (exercise, name)), None)
    if group is None:
        look.html('<h1>Not found</h1><div class="warn">There is no such group now.</div>')
        return
    look.heading(f"{group.exercise.number} {group.exercise.title}, group {group.name}", 1)
    members = now.members(group)
    function = f" in <code>{for_html(group.function)}</code>" if group.function else ""
    alike = f" behave alike{function}" if len(members) > 1 else function
    look.html(f"<p>{pluralize(len(members), 'answer')}{alike}.</p>")
    if len(members) > 1:
        _show_two_answers(folder, now, exercise, members)
    else:
        _show_answer(folder, now, members[0], exercise)
    _show_draft(folder, group)


def _show_two_answers(folder: ClassFolder, now: Snapshot, exercise: str, members: Sequence[str]) -> None:
    """Build two answers of a group side by side.

    Two boxes choose which answers these are.
    """
    names = {author: folder.name_on_page(now, author) for author in members}
    with ui.element("div").classes("in-line"):
        boxes = [ui.select(names, value=each, label="Answer").props("outlined dense") for each in members[:2]]
    sides = ui.element("div").classes("work two").style("margin-top:1rem")

    def fill() -> None:
        sides.clear()
        with sides:
            for box, place in zip(boxes, ("task", "edit"), strict=True):
                _show_answer(folder, now, str(box.value), exercise, place)

    for box in boxes:
        box.style("min-width:min(16rem,100%)").on_value_change(fill)
    fill()


def _show_answer(folder: ClassFolder, now: Snapshot, author: str, exercise: str, place: str = "") -> None:
    path, text = now.files.get((author, exercise), ("", b""))
    graded = now.graded(author, exercise)
    with ui.element("section").classes(f"card {place}"):
        look.html(
            f'<a href="../../author/{quote(author, safe="")}">{for_html(folder.name_on_page(now, author))}</a>', "h2"
        )
        look.html(numbered_code_html(text, path, graded))
        if graded is not None:
            look.html(fragment([graded]))


def _show_draft(folder: ClassFolder, group: SimilarSubmissions) -> None:
    """Build the card in which staff make a known wrong answer of a group.

    It has a button, or the reason why no known wrong answer can be made.
    """
    with ui.element("section").classes("card").style("margin-top:1rem"):
        look.heading("Make a known wrong answer of this group")
        if group.why_not:
            look.html(f"<p>None can be made of it: {for_html(group.why_not)}.</p>")
            return
        look.html(
            "<p>Everybody whose answer behaves like it then reads its sentence, and so will the next class. The draft "
            "is made of the shortest file, without comments, docstrings and names of its authors.</p>"
        )
        place = ui.element("div").style("width:100%")

        async def make() -> None:
            place.clear()
            try:
                path, text = await asyncio.to_thread(folder.draft, group)
            except GraderError as error:
                with place:
                    look.html(f"<p>{for_html(str(error))}</p>")
                return
            with place:
                _show_editor(folder, group, path.name, text)

        with place:
            look.button("Make a draft", make, first=True)


def _show_editor(folder: ClassFolder, group: SimilarSubmissions, name: str, text: str) -> None:
    """Show the draft of a known wrong answer in an editor, with the buttons that save it."""
    look.html(f"{for_html(name)}: write the sentence in place of TODO, and remove names of people that are left.", "p")
    area = show_editor(text, "The draft; press Escape, then Tab to leave it").style("height:22rem;width:100%")

    def plan() -> PlannedChange:
        return folder.plan_draft(group, str(area.value or ""))

    def saved(planned: PlannedChange) -> str:
        del planned
        steps = "".join(f"<li>{for_html(step.format(exercise=group.exercise.id))}</li>" for step in STEPS)
        return f"Now</p><ul>{steps}</ul><p>"

    show_buttons(plan, (area,), saved, scores=False)
