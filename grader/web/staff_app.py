"""The pages of `grade web OUT`: the class as a table, an author's page, groups side by side, overrides.

Every text of a student's passes through `for_html` before it is in a page.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from urllib.parse import quote

from nicegui import ui

from grader.batch.feedback import failing_function
from grader.course.layout import find_course
from grader.course.load import load_course
from grader.model import Course, GradedExercise, Report
from grader.model.errors import GraderError
from grader.model.score import points_text
from grader.report.html import rendered
from grader.report.safe import for_html
from grader.web import look
from grader.web.class_data import ClassFolder, Snapshot

_LINKS = (("Class", "/"), ("Groups", "/groups"))


def declare_class(out: Path, course_folder: Path | None) -> str:
    """Declare all pages of a class; return its title.

    Args:
        out: the folder that `grade batch` wrote.
        course_folder: of its course; by default the course that the user's folder lies in.

    Raises:
        CourseError: the folder has no results, or there is no course.
    """
    course = load_course(find_course((course_folder or Path.cwd()).resolve()), whole=False)
    folder = ClassFolder(course, out)
    snapshot = folder.read()  # what is wrong is said before a browser opens
    title = snapshot.overview.handin or course.title

    @ui.page("/", title=title)
    async def _class() -> None:
        await _guarded(title, folder, lambda now: _show_class(course, now))

    @ui.page("/author/{name:path}", title=title)
    async def _author(name: str) -> None:
        await _guarded(title, folder, lambda now: _show_author(folder, now, name))

    @ui.page("/groups", title=title)
    async def _groups() -> None:
        await _guarded(title, folder, _show_groups)

    @ui.page("/group/{exercise}/{name}", title=title)
    async def _group(exercise: str, name: str) -> None:
        await _guarded(title, folder, lambda now: _show_group(now, exercise, name))

    return title


async def _guarded(title: str, folder: ClassFolder, show: object) -> None:
    try:
        now: Snapshot | str = await asyncio.to_thread(folder.read)
    except GraderError as error:
        now = str(error)
    with look.page(title, _LINKS):
        if isinstance(now, str):
            look.html(f'<h1>{for_html(title)}</h1><div class="warn">{for_html(now)}</div>')
        else:
            assert callable(show)
            show(now)


# -- the class


def _show_class(course: Course, now: Snapshot) -> None:
    overview = now.overview
    look.heading(f"{len(now.reports)} submissions", 1)
    look.html(f"<p>{for_html(overview.mean_and_median)}</p>")
    tallies = overview.exercises
    with ui.element("div").classes("row"):
        text = ui.input("Author").props("outlined dense clearable")
        exercises = {"": "all exercises", **{one.exercise.id: one.exercise.number for one in tallies}}
        exercise = ui.select(exercises, value="", label="Exercise").props("outlined dense").style("min-width:10rem")
        state = (
            ui.select(
                {"": "all states", "lost": "lost points", "open": "undecided", "group": "in a group", "late": "late"},
                value="",
                label="State",
            )
            .props("outlined dense")
            .style("min-width:10rem")
        )
        order = ui.select({"name": "by name", "points": "by points"}, value="name", label="Order").props(
            "outlined dense"
        )
    table = look.html("").style("overflow-x:auto;width:100%").props('tabindex="0" role="region" aria-label="Class"')
    grouped = {author for group in overview.groups for author in group.members}

    def fits(author: str, report: Report) -> bool:
        row = overview.rows[author]
        names = " ".join((author, *row.authors)).casefold()
        chosen = [one for one in report.exercises if not exercise.value or one.exercise.id == exercise.value]
        kinds = {
            "": True,
            "lost": any(one.score.earned + one.score.undecided < one.score.possible for one in chosen),
            "open": any(one.score.undecided for one in chosen),
            "group": author in grouped,
            "late": bool(report.policy and report.policy.late_days),
        }
        return (text.value or "").casefold() in names and bool(chosen) and kinds[state.value]

    def fill() -> None:
        rows = [(author, report) for author, report in now.reports.items() if fits(author, report)]
        if order.value == "points":
            rows.sort(key=lambda each: overview.rows[each[0]].score.earned)
        heads = "".join(f'<th scope="col" class="num">{for_html(one.exercise.number)}</th>' for one in tallies)
        body = "".join(_class_row(now, author, [one.exercise.id for one in tallies]) for author, _ in rows)
        table.content = (
            f'<table class="list"><caption class="soft">{len(rows)} of {len(now.reports)} submissions</caption><thead>'
            f"<tr>"
            f'<th scope="col">Author</th>{heads}<th scope="col" class="num">Total</th><th scope="col">Late</th></tr>'
            f"</thead><tbody>{body}</tbody></table>"
        )

    for one in (text, exercise, state, order):
        one.on_value_change(fill)
    fill()


def _class_row(now: Snapshot, author: str, exercises: list[str]) -> str:
    row = now.overview.rows[author]
    cells = "".join(f'<td class="num">{for_html(row.cells.get(id, ""))}</td>' for id in exercises)
    total = f"{points_text(row.score.earned)} / {points_text(row.score.possible)}"
    link = f'<a href="author/{quote(author, safe="")}">{for_html(", ".join(row.authors))}</a>'
    return f'<tr><td>{link}</td>{cells}<td class="num">{total}</td><td>{for_html(row.late)}</td></tr>'


# -- one author


def _show_author(folder: ClassFolder, now: Snapshot, author: str) -> None:
    report = now.reports.get(author)
    if report is None:
        look.html(f'<h1>Not found</h1><div class="warn">No submission is by {for_html(author)}.</div>')
        return
    seen = folder.overrides_digest()
    look.heading(", ".join(report.authors or (author,)), 1)
    total = report.total
    look.html(f"<p><b>{points_text(total.earned)} / {points_text(total.possible)} points</b></p>")
    if report.policy is not None:
        look.html(f'<p class="soft">{for_html(report.policy.explained)}</p>')
    for graded in report.exercises:
        path, text = now.files.get((author, graded.exercise.id), ("", b""))
        with ui.element("section").classes("card").style("margin-top:1rem"):
            with ui.element("div").classes("work two"):
                with ui.element("div").classes("edit"):
                    look.html(f"{for_html(path or 'no file')}", "h2")
                    look.html(_numbered(text))
                with ui.element("div").classes("task"):
                    look.html(_graded(graded, path, text))
            _show_form(folder, author, graded, seen)


def _graded(graded: GradedExercise, path: str, text: bytes) -> str:
    lines = {graded.exercise.id: failing_function(graded, path, text)} if text else {}
    return rendered("fragment.html", exercises=[graded], notes=[], own_lines=lines, with_hints=False)


def _numbered(text: bytes) -> str:
    lines = text.decode("utf-8", "replace").splitlines()
    rows = "".join(f'<span class="soft">{number:>4}</span> {for_html(line)}\n' for number, line in enumerate(lines, 1))
    return f'<pre class="code" tabindex="0" style="max-height:40rem">{rows}</pre>'


def _show_form(folder: ClassFolder, author: str, graded: GradedExercise, seen: str) -> None:
    """Points by hand, with their reason: what they change is shown before they are saved."""
    exercise = graded.exercise
    with ui.element("details"):
        look.html("Give points by hand", "summary")
        with ui.element("div").classes("row"):
            checks = {"": "the whole exercise", **{row.check.id: row.check.title for row in graded.checks}}
            check = ui.select(checks, value="", label="Check").props("outlined dense").style("min-width:14rem")
            points = ui.input("Points").props("outlined dense")
            why = ui.input("Reason, which the author reads").props("outlined dense").style("min-width:20rem")
        with ui.element("div").classes("row"):
            for row in graded.checks:
                if row.verdict.lost and row.check.title:
                    title = row.check.title
                    look.button(f"{row.check.contract} {title}".strip(), _chosen(why, check, title, row.check.id))
        said = look.html("").props('role="status" aria-live="polite"')
        digest = {"seen": seen}

        async def preview() -> None:
            try:
                one = folder.override(
                    author, exercise.id, str(check.value), str(points.value or ""), str(why.value or "")
                )
                new = await asyncio.to_thread(folder.after, author, one)
            except GraderError as error:
                said.content = f"<p>{for_html(str(error))}</p>"
                return
            old = (await asyncio.to_thread(folder.read)).reports[author]
            if new is not None:
                said.content = f"<p><b>{_change(old, new)}</b> Nothing is saved yet.</p>"

        async def save() -> None:
            try:
                one = folder.override(
                    author, exercise.id, str(check.value), str(points.value or ""), str(why.value or "")
                )
                await asyncio.to_thread(folder.after, author, one)
                await asyncio.to_thread(folder.save, one, author, digest["seen"])
            except GraderError as error:
                digest["seen"] = folder.overrides_digest()
                said.content = f"<p>{for_html(str(error))}</p>"
                return
            digest["seen"] = folder.overrides_digest()
            new = (await asyncio.to_thread(folder.read)).reports[author]
            total = f"{points_text(new.total.earned)} / {points_text(new.total.possible)}"
            said.content = f"<p><b>Saved in overrides.csv.</b> The total is {total} points now.</p>"

        with ui.element("div").classes("row"):
            look.button("Show what it changes", preview)
            look.button("Save", save, first=True)


def _chosen(why: ui.input, check: ui.select, title: str, id: str) -> object:
    def choose() -> None:
        why.value, check.value = title, id

    return choose


def _change(old: Report, new: Report) -> str:
    before, after = old.total, new.total
    return f"{points_text(before.earned)} becomes {points_text(after.earned)} of {points_text(after.possible)} points."


# -- groups


def _show_groups(now: Snapshot) -> None:
    look.heading("Answers that no known mistake explains", 1)
    if not now.overview.groups:
        look.html("<p>All lost points are explained by known mistakes.</p>")
    for group in now.overview.groups:
        many = f"{len(group.members)} answers"
        with ui.element("p"):
            words = f"{group.exercise.number} {group.exercise.title}, group {group.name}: {many}"
            ui.link(words, f"/group/{group.exercise.id}/{quote(group.name, safe='')}")


def _show_group(now: Snapshot, exercise: str, name: str) -> None:
    group = next((one for one in now.overview.groups if (one.exercise.id, one.name) == (exercise, name)), None)
    if group is None:
        look.html('<h1>Not found</h1><div class="warn">There is no such group now.</div>')
        return
    look.heading(f"{group.exercise.number} {group.exercise.title}, group {group.name}", 1)
    members = now.members(group)
    look.html(f"<p>{len(members)} answers behave alike.</p>")
    sides = ui.element("div").classes("work two")

    def fill(first: str, second: str) -> None:
        sides.clear()
        with sides:
            for author, place in ((first, "task"), (second, "edit")):
                path, text = now.files.get((author, exercise), ("", b""))
                graded = next(one for one in now.reports[author].exercises if one.exercise.id == exercise)
                with ui.element("section").classes(f"card {place}"):
                    link = f'<a href="../../author/{quote(author, safe="")}">{for_html(author)}</a>'
                    look.html(link, "h2")
                    look.html(_numbered(text))
                    look.html(_graded(graded, path, text))

    second = members[1] if len(members) > 1 else members[0]
    with ui.element("div").classes("row"):
        names = {author: author for author in members}
        boxes = [ui.select(names, value=each, label="Answer").props("outlined dense") for each in (members[0], second)]
        for box in boxes:
            box.on_value_change(lambda: fill(str(boxes[0].value), str(boxes[1].value)))
    fill(members[0], second)
