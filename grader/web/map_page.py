"""The map of a course: progress, points, and what comes next."""

from __future__ import annotations

from html import escape

from nicegui import ui

from grader.course.layout import drill_of
from grader.model import Course
from grader.model.score import points_text
from grader.report.safe import for_html
from grader.student.folder import read_progress
from grader.student.rows import Row, next_row, rows_of
from grader.web import look

_LINKS = (("Course", "/"), ("Memory", "/memory"))


def links(course: Course) -> list[tuple[str, str]]:
    """Return the links at the head of each page: their words and addresses.

    They are `("Course", "/")`, `("Memory", "/memory")` and, if a module has questions, `("Drill", "/drill")`.
    """
    drills = [item for item in course.modules if (course.root / drill_of(item.id)).is_file()]
    return [*_LINKS, *([("Drill", "/drill")] if drills else [])]


def show_map(course: Course) -> None:
    """Build the map of a course.

    It has the exercises with their states and points, and a link to the next one.
    """
    progress = read_progress(course)
    rows = rows_of(course, progress)
    with look.page(course.title, links(course)):
        look.heading(course.title, 1)
        done = sum(not row.is_open for row in rows)
        earned, possible = sum(row.earned for row in rows), sum(row.possible for row in rows)
        share = 100 * done // max(1, len(rows))
        said = f"{done} of {len(rows)} exercises, {points_text(earned)} of {points_text(possible)} points"
        look.html(
            f'<p>{said}</p><div class="bar" role="img" aria-label="{said}"><div style="width:{share}%"></div></div>'
        )
        following = next_row(course, progress=progress)
        if following is not None:
            exercise = following.exercise
            verb = "Continue with" if following.state == "started" else "Next:"
            words = f"{verb} {exercise.number} {exercise.title}"
            with ui.element("p"):
                ui.link(words, f"/exercise/{exercise.id}").classes("b first")
        if progress.problem:
            look.html(f"<p>{for_html(progress.problem)}</p>")
        for module in course.modules:
            mine = [row for row in rows if row.exercise.module == module.id]
            if mine:
                _show_module(module.title, mine)
        if any(row.is_on_fast_track for row in rows):
            look.html('<p class="soft">* fast track: if you solve this one, you may skip the rest of its module</p>')


def _show_module(title: str, rows: list[Row]) -> None:
    done = sum(not row.is_open for row in rows)
    with ui.element("section").classes("card").style("margin-top:1rem"):
        look.html(f'{for_html(title)} <span class="soft">{done} of {len(rows)}</span>', "h2")
        body = "".join(_row_html(row) for row in rows)
        look.html(
            '<table class="list fixed"><thead><tr><th scope="col">Exercise</th><th scope="col" class="where">State</th>'
            f'<th scope="col" class="num">Points</th></tr></thead><tbody>{body}</tbody></table>'
        )


def _row_html(row: Row) -> str:
    exercise = row.exercise
    star = " *" if row.is_on_fast_track else ""
    minutes = f' <span class="soft">{exercise.minutes} min</span>' if exercise.minutes else ""
    link = f'<a href="exercise/{escape(exercise.id)}">{exercise.number} {for_html(exercise.title)}</a>{star}{minutes}'
    state = row.state.replace("_", " ")
    points = f"{points_text(row.earned)} / {points_text(row.possible)}"
    return (
        f'<tr><td>{link}</td><td><span class="state {row.state}">{state}</span></td><td class="num">{points}</td></tr>'
    )
