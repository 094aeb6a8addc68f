"""The pages of `grade web OUT`: the class as a table, and what each page of staff shows.

Every text of a student's passes through `for_html` before it is in a page.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import quote

from nicegui import app, ui

from grader.batch.results_folder import ResultsFolder
from grader.course.layout import find_course
from grader.model import GradedExercise, Report, Verdict
from grader.model.errors import GraderError
from grader.model.messages import Setup
from grader.model.score import pluralize, points_text
from grader.report.gradebook import SIGNS, rules_without_points
from grader.report.safe import for_html
from grader.report.words import VERDICTS
from grader.web import look
from grader.web.again_page import show_changes, show_regrade
from grader.web.author_page import show_author
from grader.web.checks_page import show_checks, show_exercises
from grader.web.class_data import ClassFolder, Snapshot
from grader.web.groups_page import show_group, show_groups
from grader.web.pairs_page import PairsPage
from grader.web.regrade import Regrade
from grader.web.return_page import show_results

_LINKS = (
    ("Class", "/"),
    ("Groups", "/groups"),
    ("Checks", "/checks"),
    ("Pairs", "/pairs"),
    ("Grade again", "/again"),
    ("Changes", "/changes"),
    ("Return", "/return"),
)


_READING_S = 300.0
"""So long a page may take to be built: NiceGUI gives up after three seconds, and a large class is read for longer."""


def declare_class(out: Path, course_folder: Path | None, setup: Setup) -> str:
    """Declare to NiceGUI all pages that staff see of a class, and return its title.

    Args:
        out: the folder that `grade batch` wrote.
        course_folder: the folder of its course; by default the course that the working folder lies in.
        setup: the set-up of a run that grades the class again.

    Raises:
        CourseError: the folder has no results, or there is no course.
    """
    regrade = Regrade(out, setup)
    folder = ClassFolder(find_course((course_folder or Path.cwd()).resolve()), ResultsFolder(out), regrade.why_busy)
    snapshot = folder.read()  # what is wrong is said before a browser opens
    folder.shows_names = snapshot.options.names
    title = snapshot.overview.handin or snapshot.course.title
    pairs = PairsPage()
    app.on_shutdown(lambda: asyncio.to_thread(regrade.close))
    app.on_shutdown(folder.close)

    @ui.page("/", title=title, response_timeout=_READING_S)
    async def _class() -> None:
        await _show_page(title, folder, lambda now: _show_class(folder, now))

    @ui.page("/author/{name:path}", title=title, response_timeout=_READING_S)
    async def _author(name: str) -> None:
        await _show_page(title, folder, lambda now: show_author(folder, now, name))

    @ui.page("/groups", title=title, response_timeout=_READING_S)
    async def _groups() -> None:
        await _show_page(title, folder, lambda now: show_groups(folder, now))

    @ui.page("/group/{exercise}/{name}", title=title, response_timeout=_READING_S)
    async def _group(exercise: str, name: str) -> None:
        await _show_page(title, folder, lambda now: show_group(folder, now, exercise, name))

    @ui.page("/checks", title=title, response_timeout=_READING_S)
    async def _exercises() -> None:
        await _show_page(title, folder, show_exercises)

    @ui.page("/checks/{exercise}", title=title, response_timeout=_READING_S)
    async def _checks(exercise: str) -> None:
        await _show_page(title, folder, lambda now: show_checks(folder, now, exercise))

    @ui.page("/pairs", title=title, response_timeout=_READING_S)
    async def _pairs() -> None:
        await _show_page(title, folder, pairs.show)

    @ui.page("/again", title=title, response_timeout=_READING_S)
    async def _again() -> None:
        await _show_page(title, folder, lambda now: show_regrade(folder, now, regrade))

    @ui.page("/changes", title=title, response_timeout=_READING_S)
    async def _changes() -> None:
        await _show_page(title, folder, lambda _: show_changes(folder))

    @ui.page("/return", title=title, response_timeout=_READING_S)
    async def _return() -> None:
        await _show_page(title, folder, lambda now: show_results(folder, now))

    return title


async def _show_page(title: str, folder: ClassFolder, show: Callable[[Snapshot], object]) -> None:
    """Read the class and show a page of it; show a sentence instead if it cannot be read."""
    try:
        now: Snapshot | str = await asyncio.to_thread(folder.read)
    except GraderError as error:
        now = str(error)
    with look.page(title, _LINKS):
        if isinstance(now, str):
            look.html(f'<h1>{for_html(title)}</h1><div class="warn">{for_html(now)}</div>')
            return
        if now.note:
            look.html(for_html(now.note)).classes("warn")
        shown = show(now)
        if inspect.isawaitable(shown):
            await shown


# -- the class

_STATES = {
    "": "all states",
    "lost": "lost points",
    "open": "undecided",
    "hand": "points by hand missing",
    "set": "decided by staff",
    "commented": "commented",
}


def _show_class(folder: ClassFolder, now: Snapshot) -> None:
    """Show the table of all submissions, with boxes that choose which ones and in which order."""
    overview = now.overview
    look.heading(pluralize(len(now.reports), "submission"), 1)
    spread = overview.mean_and_median
    look.html(f"<p>{for_html(spread[:1].upper() + spread[1:])}.</p>")
    tallies = overview.exercises
    verdicts = {one.value: f"a check: {VERDICTS[one][0]}" for one in Verdict if one is not Verdict.PASSED}
    mistakes = {sentence: sentence for tally in tallies for sentence, _ in tally.mistakes}
    groups = {group.name: f"{group.exercise.number} {group.name}" for group in overview.groups}
    with ui.element("div").classes("in-line"):
        text = ui.input("Author").props("outlined dense clearable")
        exercise = _choice_box(
            "Exercise", {"": "all exercises", **{one.exercise.id: one.exercise.number for one in tallies}}
        )
        state = _choice_box("State", {**_STATES, **verdicts})
        late = _choice_box("Late", {"": "late or not", "late": "late", "on time": "not late"})
        mistake = _choice_box("Known mistake", {"": "any or none", **mistakes}).style("max-width:20rem")
        group = _choice_box("Group", {"": "any or none", **groups})
        order = _choice_box(
            "Order", {"name": "by name", "points": "by points, lowest first", "late": "by lateness"}, "name"
        )
        shows_names = ui.checkbox("Names of people", value=folder.shows_names)
        shows_names.set_visibility(bool(overview.names))
    boxes = (exercise, state, late, mistake, group)
    table = look.html("").style("overflow-x:auto;width:100%").props('tabindex="0" role="region" aria-label="Class"')
    members = {group.name: group.members for group in overview.groups}

    def fits(author: str, report: Report) -> bool:
        """Return whether a submission is one of those that the boxes choose."""
        own = (author, *overview.rows[author].authors)  # who types a name knows it: it is found where none is shown
        names = " ".join([*own, *(overview.names.get(one, "") for one in own)]).casefold()
        chosen = [one for one in report.exercises if not exercise.value or one.exercise.id == exercise.value]
        days = report.policy.late_days if report.policy is not None else None
        wanted = {"": True, "late": bool(days), "on time": not days}
        said = {one.sentence for graded in chosen for one in graded.mistakes}
        return (
            (text.value or "").casefold() in names
            and bool(chosen)
            and any(_is_in_state(graded, str(state.value)) for graded in chosen)
            and wanted[str(late.value)]
            and (not mistake.value or mistake.value in said)
            and (not group.value or author in members.get(str(group.value), {}))
        )

    def fill() -> None:
        """Fill the table with the chosen submissions, in the chosen order."""
        folder.shows_names = bool(shows_names.value)
        rows = [(author, report) for author, report in now.reports.items() if fits(author, report)]
        if order.value == "points":
            rows.sort(key=lambda each: overview.rows[each[0]].score.earned)
        if order.value == "late":
            rows.sort(key=lambda each: -((each[1].policy.late_days or 0) if each[1].policy is not None else 0))
        heads = "".join(f'<th scope="col" class="num">{for_html(one.exercise.number)}</th>' for one in tallies)
        body = "".join(_class_row(folder, now, author, [one.exercise.id for one in tallies]) for author, _ in rows)
        used = {overview.rows[author].cells.get(one.exercise.id) for author, _ in rows for one in tallies}
        signs = "".join(f"; {sign} {says}" for sign, says in SIGNS.items() if sign in used)
        table.content = (
            f'<table class="list"><caption class="soft">{len(rows)} of {len(now.reports)} submissions{signs}</caption>'
            f"<thead><tr>"
            f'<th scope="col">Author</th>{heads}<th scope="col" class="num">Total</th><th scope="col">Late</th></tr>'
            f"</thead><tbody>{body}</tbody></table>"
        )

    for one in (text, *boxes, order, shows_names):
        one.on_value_change(fill)
    fill()


def _choice_box(label: str, options: dict[str, str], value: str = "") -> ui.select:
    return ui.select(options, value=value, label=label).props("outlined dense").style("min-width:10rem")


def _is_in_state(graded: GradedExercise, state: str) -> bool:
    """Return whether an exercise fits the choice in the box "State".

    Args:
        graded: the graded exercise.
        state: a key of `_STATES`, or a verdict that one of the checks must have.
    """
    score = graded.score
    match state:
        case "":
            return True
        case "lost":
            return score.earned + score.undecided < score.possible
        case "open":
            return bool(score.undecided)
        case "hand":
            return bool(rules_without_points(graded))
        case "set":
            return bool(graded.set_by) or any(row.set_by for row in graded.checks)
        case "commented":
            return bool(graded.comments)
        case verdict:
            return any(row.verdict.value == verdict for row in graded.checks)


def _class_row(folder: ClassFolder, now: Snapshot, author: str, exercises: Sequence[str]) -> str:
    row = now.overview.rows[author]
    cells = "".join(f'<td class="num">{for_html(row.cells.get(id, ""))}</td>' for id in exercises)
    total = f"{points_text(row.score.earned)} / {points_text(row.score.possible)}"
    names = ", ".join(folder.name_on_page(now, one) for one in row.authors)
    link = f'<a href="author/{quote(author, safe="")}">{for_html(names)}</a>'
    return f'<tr><td>{link}</td>{cells}<td class="num">{total}</td><td>{for_html(row.late)}</td></tr>'
