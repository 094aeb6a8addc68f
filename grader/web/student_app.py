"""The pages of a student's course, and the grading behind them."""

from __future__ import annotations

import asyncio

from nicegui import app, ui

from grader.model import Course
from grader.model.errors import CourseError
from grader.model.messages import Setup
from grader.report.safe import for_html
from grader.student.rows import solved_reference
from grader.web import look
from grader.web.exercise_page import ExercisePage
from grader.web.games_page import show_drill, show_play
from grader.web.live import LiveGrading
from grader.web.map_page import links, show_map
from grader.web.memory_page import show_memory


def declare(course: Course, setup: Setup, *, poll: bool = False) -> None:
    """Declare to NiceGUI all pages of a student's course.

    The server starts the grading when it begins, and stops it when it ends.

    Args:
        course: the student's folder.
        setup: the set-up of the runs.
        poll: True to look at files again and again, as network drives send no events.
    """
    live = LiveGrading(course, setup, poll)
    app.on_startup(lambda: live.start(asyncio.get_running_loop()))
    app.on_shutdown(lambda: asyncio.to_thread(live.close))

    @ui.page("/", title=course.title)
    def _map() -> None:
        show_map(course)

    @ui.page("/exercise/{id}", title=course.title)
    def _exercise(id: str) -> None:
        try:
            ExercisePage(live, live.exercise(id)).show()
        except CourseError as error:
            _show_problem(course, error)

    @ui.page("/play/{id}", title=course.title)
    def _play(id: str) -> None:
        try:
            exercise = live.exercise(id)
            solved_reference(course, exercise)
            show_play(live, exercise)
        except CourseError as error:
            _show_problem(course, error)

    @ui.page("/memory", title=f"Memory · {course.title}")
    def _memory() -> None:
        show_memory(live)

    @ui.page("/drill", title=f"Drill · {course.title}")
    async def _drill() -> None:
        await show_drill(live)


def _show_problem(course: Course, error: CourseError) -> None:
    with look.page(course.title, links(course)):
        look.html(f'<h1>Not found</h1><div class="warn">{for_html(str(error))}</div>')
