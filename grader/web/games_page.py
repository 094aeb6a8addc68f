"""`drill`, `break` and `catch` as pages."""

from __future__ import annotations

import random
import re
from functools import partial

from nicegui import ui

from grader.model import Exercise
from grader.model.errors import CourseError, GraderError
from grader.model.progress import Progress
from grader.model.score import pluralize
from grader.report.safe import for_html
from grader.student.games import breaking, catching, drilling
from grader.student.lines_to_try import run_lines
from grader.web import look
from grader.web.editor import replace_text, show_editor
from grader.web.live import LiveGrading
from grader.web.map_page import links
from grader.web.own_text import OnDisk, keep_both, read, save
from grader.web.task import preformatted_html

_WIDTH, _QUESTIONS = 90, 10
_CONNECTED_S = 60.0
_COMMAND = re.compile(r"[^.:]*: {2,}grade .*$")
"""A sentence with a command for a terminal, which is a button here."""


class DrillPage:
    """The page of a drill: questions, one after another; a worker runs the lines, and says which choice is right."""

    def __init__(self, live: LiveGrading, exercise: Exercise) -> None:
        self._live, self._exercise = live, exercise
        self._memory = drilling.AnsweredQuestions(live.course)
        questions = drilling.read_questions(live.course)
        self._drill = drilling.Drill(drilling.choose_questions(questions, _QUESTIONS, None, self._memory.rank))
        self._answers: dict[str, drilling.DrillAnswer] = {}
        self._asked: drilling.Question | None = None  # which is still to be answered

    async def show(self) -> None:
        """Build the page of the drill, with its first question."""
        self._question = ui.element("div").classes("card")
        await self._next()

    async def _next(self) -> None:
        """Show the next question, or the result."""
        if not self._drill.left:
            self._question.clear()
            with self._question:
                look.html(f"<p>{self._drill.first} of {self._drill.answered} right at the first try.</p>")
                again = ui.link("Drill again", "/drill").classes("b first")
                look.focus(again)
                if self._memory.problem:
                    look.html(f"<p>{for_html(self._memory.problem)}</p>")
            return
        question = self._drill.left[0]
        try:
            answer = self._answers.get(question.id) or await self._answer_of(question)
        except GraderError as error:
            self._question.clear()
            with self._question:
                look.html(f"<p>{for_html(str(error))}</p>")
            return
        self._answers[question.id], self._asked = answer, question
        self._question.clear()  # only now: two clicks on "Next question" show it once
        with self._question:
            look.html(preformatted_html("\n".join(f">>> {line}" for line in question.lines)))
            left = f'<span class="soft">{pluralize(len(self._drill.left), "question")} left</span>'
            look.html(f"<p>{for_html(question.asked)} {left}</p>")
            self._said = look.html("").props('role="status" aria-live="polite"')
            self._choices = ui.element("div").classes("in-line")
            with self._choices:
                choices = shuffled_choices(question, answer, random.Random())  # noqa: S311  a game
                buttons = [look.button(each, partial(self._show_answer, question, answer, each)) for each in choices]
            for button in buttons:
                button.style("font-family:ui-monospace, Menlo, Consolas, monospace;white-space:pre-wrap")
            if self._drill.answered:  # so is the button that led here
                look.focus(buttons[0])

    async def _answer_of(self, question: drilling.Question) -> drilling.DrillAnswer:
        """Return the answer to a question by running the question's lines in a worker.

        This process cannot run them, as it imports no PyTorch.
        """
        return await self._live.call_with_runtime(
            lambda runtime: drilling.answer_in_worker(
                lambda lines: run_lines(runtime, self._exercise, lines, self._live.setup.seed), question
            )
        )

    async def _show_answer(self, question: drilling.Question, answer: drilling.DrillAnswer, choice: str) -> None:
        """Record the student's choice, and show whether it is right, with the reason.

        A second click on a choice has no effect.
        """
        if self._asked is not question:  # a second click, on the way while the first was answered
            return
        self._asked, is_right = None, choice == answer.right
        if self._drill.record_answer(right=is_right):
            self._memory.save_answer(question, right=is_right)
        shown = preformatted_html(f">>> {question.watch}\n{answer.after}") if answer.after and not is_right else ""
        chosen = "Right" if is_right else f"You said {choice}. Wrong"
        self._said.content = f"<p><b>{for_html(f'{chosen}: {answer.right}.')}</b> {for_html(question.why)}</p>{shown}"
        self._choices.clear()
        with self._choices:
            following = look.button("Next question" if self._drill.left else "Result", self._next, first=True)
            look.focus(following)  # the button that was pressed is gone


def shuffled_choices(question: drilling.Question, answer: drilling.DrillAnswer, chance: random.Random) -> list[str]:
    """Return the choices of a question in a random order.

    Of a yes-or-no question, yes comes first.

    Args:
        question: the question.
        answer: its answer, with the choices.
        chance: the generator that draws the order.
    """
    return list(answer.choices) if question.watch else chance.sample(answer.choices, len(answer.choices))


async def show_drill(live: LiveGrading) -> None:
    """Build the page of the drill."""
    with look.page(live.course.title, links(live.course)):
        look.heading("Drill", 1)
        # NiceGUI waits three seconds for a page that is built, and a worker may need longer to begin.
        await ui.context.client.connected(timeout=_CONNECTED_S)
        try:
            await DrillPage(live, drilling.exercise_with_torch(live.course)).show()
        except GraderError as error:
            look.html(f"<p>{for_html(str(error))}</p>")


def show_play(live: LiveGrading, exercise: Exercise) -> None:
    """Build the page of the two games of an exercise.

    In one, students look for a fault in their own code; in the other, they write a check that catches wrong answers.
    """
    with look.page(live.course.title, links(live.course)):
        look.heading(f"Play with {exercise.number} {exercise.title}", 1)
        with ui.element("p"):
            ui.link("Back to the exercise", f"/exercise/{exercise.id}")
        with ui.element("section").classes("card"):
            look.heading("Break: find the fault that is planted in your own code")
            _show_break(live, exercise)
        with ui.element("section").classes("card").style("margin-top:1rem"):
            look.heading("Catch: write a check that catches known wrong answers")
            _show_catch(live, exercise)


def _show_break(live: LiveGrading, exercise: Exercise) -> None:
    """Show the game in which students look for a fault planted in their own code."""
    said = look.html("").props('role="status" aria-live="polite"')
    buttons = ui.element("div").classes("in-line")

    async def play(*, give_up: bool) -> None:
        said.content = '<p class="soft">Looking for a fault ...</p>'
        buttons.clear()  # one thing at a time
        said.content = await _play_html(live, exercise, give_up=give_up)
        with buttons:
            look.focus(offer())

    def offer() -> ui.element:
        """Show the buttons for the present state of the game, and return the first one."""
        with buttons:
            if breaking.planted_fault(live.course, exercise) is None:
                return look.button("Plant a fault", lambda: play(give_up=False), first=True)
            first = look.button("I found it", lambda: play(give_up=False), first=True)
            look.button("Give up", lambda: play(give_up=True))
            ui.link("Look for it in the editor", f"/exercise/{exercise.id}").classes("b")
            return first

    offer()
    if breaking.planted_fault(live.course, exercise) is not None:
        said.content = f"<p>A fault is planted in {for_html(exercise.file_name)}: find it, and put it right.</p>"


async def _play_html(live: LiveGrading, exercise: Exercise, *, give_up: bool) -> str:
    def job(progress: Progress) -> list[str]:
        return list(breaking.play(live.course, exercise, live.setup, None, progress, give_up=give_up))

    try:
        lines = await live.run_in_own_thread(job)
    except GraderError as error:
        lines = [str(error)]
    texts = (_COMMAND.sub("", line) for line in lines)
    return "".join(f"<p>{for_html(text)}</p>" for text in texts if text)


def _show_catch(live: LiveGrading, exercise: Exercise) -> None:
    """Build the game in which students write a check that catches known wrong answers.

    It has an editor, and a button that saves the check and runs it on all known answers.
    """
    path = catching.own_check_path(live.course, exercise)
    try:
        catching.write_template(live.course, exercise)
    except GraderError as error:
        look.html(f"<p>{for_html(str(error))}</p>")
        return
    on_disk = read(path)
    if on_disk.problem:
        look.html(f'<div class="warn">{for_html(on_disk.problem)}</div>')
        return
    base = {"text": on_disk.text}
    area = show_editor(on_disk.text, "Your check; press Escape, then Tab to leave it").style("height:20rem")
    lines = len(on_disk.text.split("\n"))
    ui.context.client.on_connect(lambda: area.reveal_line(lines))  # the rules stand first, and the student knows them
    conflict = ui.element("div").props('role="alert"').style("width:100%")

    async def catch() -> None:
        try:
            text = str(area.value)
            other = save(path, text, base["text"])
        except CourseError as error:
            caught.content = f"<p>{for_html(str(error))}</p>"
            return
        if other is not None:
            ask(other)
            return
        await run(text)

    async def run(text: str) -> None:
        base["text"] = text
        conflict.clear()
        caught.content = '<p class="soft">Running your check on all known answers ...</p>'
        caught.content = await _catch_html(live, exercise)

    def ask(other: OnDisk) -> None:
        """Ask which text of the check counts, after another program changed its file."""
        conflict.clear()
        with conflict, ui.element("div").classes("warn"):
            look.html(
                f"<p><b>{for_html(path.name)} was changed by another program, and here, too.</b> Nothing is saved "
                "until you choose. The other version stays beside the file.</p>"
            )
            with ui.element("div").classes("in-line"):
                look.button("Keep the text of this page", lambda: choose(own=True), first=True)
                look.button("Take the file's text", lambda: choose(own=False))
            with ui.element("details"):
                look.html("Show the file's text", "summary")
                look.html(preformatted_html(other.text))

    async def choose(*, own: bool) -> None:
        mine, other = str(area.value), read(path).text
        winner, loser = (mine, other) if own else (other, mine)
        try:
            keep_both(path, winner, loser)
        except CourseError as error:
            caught.content = f"<p>{for_html(str(error))}</p>"
            return
        if not own:
            await replace_text(area, winner)
        await run(winner)

    with ui.element("div").classes("in-line").style("margin-top:.5rem"):
        look.button("Save and run", catch, first=True)
    caught = look.html("").props('role="status" aria-live="polite"').style("width:100%")


async def _catch_html(live: LiveGrading, exercise: Exercise) -> str:
    try:
        lines, _ = await live.run_in_own_thread(
            lambda progress: catching.run_own_check(live.course, exercise, live.setup, _WIDTH, progress)
        )
    except GraderError as error:
        lines = [str(error)]
    return preformatted_html("\n".join(lines))
