"""The page of one exercise: the task, an editor on the student's own file, and the checks."""

from __future__ import annotations

import ast
import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from html import escape

from nicegui import background_tasks, ui

from grader.model import Exercise, GradedExercise, Verdict
from grader.model.check import LINES_TO_TRY
from grader.model.errors import CourseError, GraderError
from grader.model.report import split_at_rule
from grader.model.score import Causes
from grader.report.html import fragment, svg_of
from grader.report.safe import for_html
from grader.report.student_line import line_of
from grader.report.words import message_beside_picture, mistake_texts
from grader.student.folder import read_progress, restore_starter, write_progress
from grader.student.games.breaking import planted_fault
from grader.student.rows import next_row, solved_reference
from grader.student.task_page import solution_lines
from grader.web import look
from grader.web.editor import mark, replace_text, show_editor
from grader.web.live import LiveGrading, Result
from grader.web.map_page import links
from grader.web.memory_page import MemoryPanel, first_with_torch
from grader.web.own_text import OnDisk, keep_both, read, save
from grader.web.task import preformatted_html, rule_marks, task_html
from grader.web.try_it import TryIt

_PAUSE_S = 0.15
"""So long nothing is typed, and the text is saved."""

_SLOW_BROWSER_S = 60.0
_FIRST_LINES = 4
_MEMORY_TOPICS = ("02", "05", "08", "09")
_SYNTAX = re.compile(r"\bline (\d{1,6})\b")
"""Of a file that Python cannot read, the message names the line."""

_DRAFT = """
(() => { const key = 'tensorgrade:' + %(key)s, box = getHtmlElement(%(id)s);
  const text = () => getElement(%(id)s).editor?.state.doc.toString();
  if (!box || box.dataset.drafts) return; box.dataset.drafts = '1';
  const keep = () => { try {
    localStorage.setItem(key, JSON.stringify({text: text(), base: window.tensorgradeBase})); } catch (e) {} };
  for (const kind of ['input', 'keyup', 'paste', 'cut']) box.addEventListener(kind, () => setTimeout(keep, 0));
})()
"""
"""The text of the editor as it is typed, in the browser: a server that ended cannot lose it."""


class ExercisePage:
    """One window with one exercise.

    Args:
        live: grades.
        exercise: the exercise.
    """

    def __init__(self, live: LiveGrading, exercise: Exercise) -> None:
        self._live = live
        self._exercise = exercise
        self._path = exercise.starter
        self._base = ""
        self._asks = False
        self._pause: asyncio.TimerHandle | None = None
        self._report: ui.html | None = None
        self._unshown_result: Result | None = None
        self._catches_up = False

    # -- building

    def show(self) -> None:
        """Build the page: the task, the editor of the student's file, and the checks."""
        exercise = self._exercise
        client = self._client = ui.context.client
        on_disk = read(self._path)
        self._base = on_disk.text
        with look.page(self._live.course.title, links(self._live.course)):
            look.heading(f"{exercise.number} {exercise.title}", 1)
            self._conflict = ui.element("div").props('role="alert"').style("width:100%")
            with ui.element("div").classes("work"):
                with ui.element("section").classes("card task").props('aria-label="Task"'):
                    self._task = look.html(task_html(exercise, {}))
                    self._show_hints()
                with ui.element("section").classes("edit card").props('aria-label="Your file"'):
                    self._show_editor(on_disk)
                    with ui.element("div").classes("first").props('role="status" aria-live="polite"'):
                        self._status = look.html("")
                        self._first = look.html("")
                    self._following = ui.element("div")
                with ui.element("section").classes("card checks").props('aria-label="Checks" id="checks"'):
                    self._results = ui.element("div").style("width:100%")
                    self._try_it = ui.element("div").style("width:100%")
            draw = self._show_memory()
            with self._try_it:
                self._tries = TryIt(self._live, exercise, draw if not exercise.without else None)
        self._live.add_callback(self, exercise.id, self._on_result)
        client.on_delete(lambda: self._live.remove_callback(self))
        client.on_connect(self._on_connect)
        if (last := self._live.last.get(exercise.id)) is not None:
            self._show_result(last)
        self._live.grade(exercise)

    def _show_memory(self) -> Callable[[str], Awaitable[None]] | None:
        """Show the panel that draws memory, and return a function that draws lines in it.

        Returns:
            A function that opens the panel and draws the tensors that lines of Python make; None if this page has no
            panel.
        """
        exercise = self._exercise
        # Workers of an exercise without PyTorch have none: then it draws in those of another one.
        drawn = exercise if not exercise.without else first_with_torch(self._live.course)
        if exercise.module[:2] not in _MEMORY_TOPICS or drawn is None:
            return None
        with ui.element("details").classes("card memory").style("margin-top:1rem") as panel:
            look.html("See the memory: draw tensors as views on their storages", "summary")
            memory = MemoryPanel(self._live, drawn, own=drawn is exercise)
        panel.on("toggle", memory.draw)  # a worker that draws for nobody would delay the first verdicts

        def reveal() -> None:
            ui.run_javascript(
                f"const p = getHtmlElement({panel.id}); p.open = true; p.scrollIntoView(); p.firstElementChild.focus();"
            )

        async def draw(lines: str) -> None:
            reveal()
            await memory.draw_lines(lines)

        with self._hint_buttons:
            look.button("See the memory", reveal)
        return draw

    def _show_editor(self, on_disk: OnDisk) -> None:
        """Show the editor with the student's file, and the buttons below it."""
        name = escape(self._exercise.file_name)
        look.html(f'{name} <span class="soft small">saved as you type; Escape, then Tab leaves it</span>', "h2")
        if on_disk.problem:
            look.html(f'<div class="warn">{for_html(on_disk.problem)}</div>')
        self._editor = show_editor(
            on_disk.text,
            "Your file; press Escape, then Tab to leave it",
            self._on_change,
            {"Mod-s": self._save_now},
            reads_only=bool(on_disk.problem),
        )
        with ui.element("div").classes("in-line").style("margin-top:.5rem"):
            look.button("Check now", lambda: self._save(again=True), first=True)
            look.button("Restore the starter", self._reset)

    async def _on_connect(self) -> None:
        """Show what was missed while the connection was lost, and the text that the browser kept."""
        # NiceGUI sends what a lost connection did not deliver again, and after what is shown meanwhile: an old state
        # would replace a new one. The browser answers when it has all of it; until then results wait.
        self._catches_up = True
        try:
            draft = await self._start_drafts()
        finally:
            self._catches_up = False
        if not self._client.has_socket_connection:
            return  # the page was closed, or its connection is lost again; the next connection goes on
        if (missed := self._unshown_result) is not None:
            self._unshown_result = self._report = None
            self._show_result(missed)
        if draft is None:
            return
        if draft:
            await self._show_draft(draft)
        await self._reload_text()

    async def _start_drafts(self) -> str | None:
        """Return the text of this exercise that the browser kept as it was typed: a draft.

        The browser is also set up to keep what is typed from now on, and shows the first function.

        Returns:
            The draft as JSON, with the file's text that it began with: `{"text": "x = 2", "base": "x = 1"}`. It is ""
            if the browser keeps none; None if it does not reply.
        """
        key = f"{self._live.course.root}/{self._exercise.id}"
        script = f"localStorage.getItem('tensorgrade:' + {json.dumps(key)})"
        try:
            found = await ui.run_javascript(script, timeout=_SLOW_BROWSER_S)
        except TimeoutError:
            return None
        ui.run_javascript(f"window.tensorgradeBase = {json.dumps(self._base)};")
        ui.run_javascript(_DRAFT % {"key": json.dumps(key), "id": self._editor.id})
        self._scroll_to_code()
        return found or ""

    async def _show_draft(self, found: str) -> None:
        """Show the draft that the browser kept because the server could not save it.

        If the file has changed since the draft was begun, ask the student which text counts.

        Args:
            found: the draft as JSON, with its text and the text that it began with.
        """
        try:
            draft = json.loads(found)
            text, base = str(draft["text"]), str(draft.get("base") or "")
        except (ValueError, TypeError, KeyError):
            return
        if text in (self._base, self._editor.value):
            return
        if base != self._base:
            # The file as that text knew it: so a save finds that both changed, and writes nothing before the choice.
            self._base = base
            self._ask_which_text(read(self._path))
        await replace_text(self._editor, text, expected=self._editor.value)  # which is saved as if it was typed now

    def _scroll_to_code(self) -> None:
        """Scroll the editor to the first function, which is below the task."""
        try:
            body = ast.parse(self._editor.value or "").body
        except (SyntaxError, ValueError):
            return
        first = next((node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)), None)
        if first is not None:
            last = min(first.lineno + 12, len((self._editor.value or "").split("\n")))
            self._editor.reveal_line(last)

    # -- the file

    def _on_change(self) -> None:
        """Save the text as soon as the student has typed nothing for a moment."""
        if self._pause is not None:
            self._pause.cancel()
        self._pause = asyncio.get_running_loop().call_later(_PAUSE_S, self._save_now)

    def _save_now(self) -> None:
        with self._client:
            self._save()

    def _save(self, *, again: bool = False) -> None:
        """Save the text of the editor, and have it graded.

        If another program changed the file, nothing is saved, and the student chooses which text counts.

        Args:
            again: True to grade the file even if it has not changed.
        """
        text = self._editor.value or ""
        try:
            other = save(self._path, text, self._base)
        except CourseError as error:
            self._say(str(error))
            return
        if other is not None:
            self._ask_which_text(other)
            return
        # What `_choose` said stays until something else is saved: a save that waited for a pause may come after it.
        if self._asks or text != self._base:
            self._conflict.clear()
            self._asks = False
        if text != self._base:
            self._base = text
            self._save_base_in_browser()
        self._live.grade(self._exercise, again=again)

    def _save_base_in_browser(self) -> None:
        key = json.dumps(f"tensorgrade:{self._live.course.root}/{self._exercise.id}")
        base = json.dumps(self._base)
        self._client.run_javascript(
            f"window.tensorgradeBase = {base}; try {{ const d = JSON.parse(localStorage.getItem({key}) || 'null');"
            f" if (d && d.text === {base}) localStorage.removeItem({key}); }} catch (e) {{}}"
        )

    async def _reload_text(self) -> None:
        """Show the text that another editor saved.

        If the browser has unsaved text, ask the student which text counts. The browser compares the texts, since the
        server does not have what was typed while the connection was lost.
        """
        now = read(self._path)
        if now.problem or now.text == self._base:
            return
        with self._client:
            try:
                shown = await replace_text(self._editor, now.text, expected=self._base)
            except TimeoutError:
                return  # no connection: it is read again with the next one
            if shown == now.text:
                self._base = now.text
                self._save_base_in_browser()
            else:
                self._ask_which_text(now)

    def _ask_which_text(self, other: OnDisk) -> None:
        """Ask the student whether the file's text or the page's text counts.

        The answer calls `_choose`. Until then nothing is saved.

        Args:
            other: the file as it is on the disk now.
        """
        self._asks = True
        self._conflict.clear()
        with self._conflict, ui.element("div").classes("warn"):
            name = escape(self._exercise.file_name)
            look.html(
                f"<p><b>{name} was changed by another program, and here, too.</b> Nothing is saved until you choose. "
                "The other version stays beside the file, and is not graded.</p>"
            )
            with ui.element("div").classes("in-line"):
                look.button("Keep the text of this page", lambda: self._choose(own=True), first=True)
                look.button("Take the file's text", lambda: self._choose(own=False))
            with ui.element("details"):
                look.html("Show the file's text", "summary")
                look.html(preformatted_html(other.text))

    async def _choose(self, *, own: bool) -> None:
        """Save the text that the student chose, and grade it.

        The text that was not chosen is kept beside the file.

        Args:
            own: True if the student chose the text of the page; False for that of the file.
        """
        mine, other = self._editor.value or "", read(self._path).text
        winner, loser = (mine, other) if own else (other, mine)
        try:
            beside = keep_both(self._path, winner, loser)
        except CourseError as error:
            self._say(str(error))
            return
        self._asks = False
        self._base = winner
        if not own:
            await replace_text(self._editor, winner)
        self._save_base_in_browser()
        self._conflict.clear()
        with self._conflict:  # the status below the editor soon says that it is checking
            look.html(f"<p>The other version is beside the file, as {for_html(beside.name)}.</p>")
        self._live.grade(self._exercise)

    def _reset(self) -> None:
        with ui.dialog() as dialog, ui.element("div").classes("card").style("max-width:30rem"):
            look.html(f"<p>Restore the starter of {for_html(self._exercise.title)}? Your file stays beside it.</p>")
            with ui.element("div").classes("in-line"):
                look.button("Restore", lambda: self._restore(dialog), first=True)
                look.button("Cancel", dialog.close)
        dialog.open()

    async def _restore(self, dialog: ui.dialog) -> None:
        dialog.close()
        try:
            said = list(restore_starter(self._live.course, self._exercise))
        except GraderError as error:
            said = [str(error)]
        self._base = read(self._path).text
        await replace_text(self._editor, self._base)
        self._save_base_in_browser()
        self._say(". ".join(said))
        self._live.grade(self._exercise)

    def _say(self, text: str) -> None:
        self._status.content = f"<p>{for_html(text)}</p>"

    # -- results

    def _on_result(self, result: Result) -> None:
        """Show a result as soon as the browser is connected.

        Until then the result is kept, unless a later one replaces it.
        """
        if self._client.has_socket_connection and not self._catches_up:
            with self._client:
                background_tasks.create(self._reload_text())
                self._show_result(result)
        else:
            self._unshown_result = result

    def _show_planted(self) -> None:
        """Show a warning if a game planted a fault in this file.

        The failures are then not the student's fault.
        """
        if planted_fault(self._live.course, self._exercise) is None:
            return
        with ui.element("div").classes("warn"):
            look.html("<p>A fault is planted in this file, for you to find. Your own answer is kept beside it.</p>")
            ui.link("I found it, or I give up", f"/play/{self._exercise.id}").classes("b")

    def _show_result(self, result: Result) -> None:
        """Show a result, or the problem that prevented it.

        The page gets the state of each rule, the first message, the report, and what comes next.
        """
        if result.problem:
            self._say(result.problem)
            return
        if result.graded is None:
            self._status.content = '<p class="soft">Checking ...</p>'
            return
        graded = result.graded
        marks = rule_marks(graded.checks)
        self._task.content = task_html(self._exercise, marks)
        lost = sum(row.verdict.is_lost for row in graded.checks)
        passed = sum(row.verdict.value == "passed" for row in graded.checks)
        said = f"{passed} of {len(graded.checks)} checks pass" if lost else f"All {passed} checks pass"
        if all(row.verdict is Verdict.ERROR for row in graded.checks):
            said = "No check ran"
        self._status.content = f"<p><b>{said}</b>{'' if result.is_complete else ' ...'}</p>"
        self._first.content = first_message_html(graded)
        self._mark_wrong_line(graded)
        shown = fragment([without_lines_to_try(graded)])
        self._tries.offer(graded)
        self._following.clear()
        if not result.is_complete or self._report is None:
            self._results.clear()
            with self._results:
                self._show_planted()
                self._report = look.html(shown)
        else:
            self._report.content = shown
        if result.is_complete and graded.passes_here:
            with self._following:
                self._show_next()
            with self._results:
                self._show_after_solved(result)

    def _mark_wrong_line(self, graded: GradedExercise) -> None:
        """Underline the line of the student's code that the first failure is about.

        It is the line that raised, or else the start of the function. Nothing is underlined if there is no failure.
        """
        cause = Causes.of(graded.checks).cause
        lines = (self._editor.value or "").split("\n")
        number = (line_of(cause, graded) or 0) if cause is not None else 0
        if cause is not None and not number and (found := _SYNTAX.search(cause.outcome.message)):
            number = int(found[1])
        start = end = 0
        if 0 < number <= len(lines):
            own = lines[number - 1]
            before = sum(len(line) + 1 for line in lines[: number - 1])
            start, end = before + len(own) - len(own.lstrip()), before + len(own)
        mark(self._editor, start, end, "cm-wrong")

    def _show_next(self) -> None:
        following = next_row(self._live.course)
        if following is not None and following.exercise is not self._exercise:
            words = f"Next: {following.exercise.number} {following.exercise.title}"
            ui.link(words, f"/exercise/{following.exercise.id}").classes("b first")

    def _show_after_solved(self, result: Result) -> None:
        """Show what a student may do with a solved exercise: golf, right answers and games."""
        exercise = self._exercise
        with ui.element("div").classes("card").style("margin-top:1rem"):
            look.heading("You have solved it")
            for text in result.advice:
                if text.startswith("Golf:"):
                    look.html(f"<p>{for_html(text)}</p>")
            if result.solved and exercise.reference is not None:
                with ui.element("details"):
                    look.html("The reference, and other right answers", "summary")
                    try:
                        solved_reference(self._live.course, exercise)
                        plain = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(solution_lines(exercise)))
                    except GraderError as error:
                        plain = str(error)
                    look.html(preformatted_html(plain.strip("\n")))
                with ui.element("p"):
                    ui.link("Play: break your code, and catch wrong answers", f"/play/{exercise.id}")

    # -- hints

    def _show_hints(self) -> None:
        exercise = self._exercise
        with ui.element("div"):
            look.heading("Hints")
            self._hints = look.html("").props('aria-live="polite"')
            self._hint_buttons = ui.element("div").classes("in-line")
            with self._hint_buttons:
                self._more = look.button("Show a hint", self._next_hint)
        self._fill_hints(min(read_progress(self._live.course).of(exercise.id).hints, len(exercise.hints)))

    def _fill_hints(self, seen: int) -> None:
        hints = self._exercise.hints
        rows = "".join(f"<li>{for_html(hint.strip())}</li>" for hint in hints[:seen])
        left = len(hints) - seen
        said = f"{left} of {len(hints)} left; hints cost no points" if left else "You have seen all hints"
        self._hints.content = f"<ol>{rows}</ol><p class='soft'>{said}</p>" if rows else f"<p class='soft'>{said}</p>"
        self._more.set_visibility(bool(left))

    def _next_hint(self) -> None:
        progress = read_progress(self._live.course)
        saved = progress.of(self._exercise.id)
        seen = min(saved.hints + 1, len(self._exercise.hints))
        problem = write_progress(
            self._live.course, progress.with_exercise(self._exercise.id, replace(saved, hints=seen))
        )
        if problem:
            self._say(problem)
        self._fill_hints(seen)


def first_message_html(graded: GradedExercise) -> str:
    """Return the first failure as HTML; "" if nothing failed.

    It has a few lines of the message, the picture, and the known mistake.
    """
    cause = Causes.of(graded.checks).cause
    if cause is None:
        return ""
    story, _ = split_at_rule(message_beside_picture(cause.outcome), cause.check.contract)
    lines = [line for line in story.split("\n") if line.strip()]
    rule = f"<b>{for_html(cause.check.contract)}</b> " if cause.check.contract else ""
    said = "".join(f"<p>{for_html(text)}</p>" for text in mistake_texts(graded, cause))
    text = for_html("\n".join([*lines[:_FIRST_LINES], *(["..."] if len(lines) > _FIRST_LINES else [])]))
    picture = cause.outcome.picture
    drawn = f'<figure tabindex="0">{svg_of(picture)}</figure>' if picture is not None else ""
    return f'<div class="cause"><pre>{rule}{text}</pre>{said}{drawn}<a href="#checks">Read all of it</a></div>'


def without_lines_to_try(graded: GradedExercise) -> GradedExercise:
    """Return a graded exercise whose messages do not have the lines that a student may try.

    The page has a box that runs those lines.
    """
    heading = f"\n{LINES_TO_TRY}"
    rows = []
    for row in graded.checks:
        message, found, _ = row.outcome.message.rpartition(heading)
        rows.append(replace(row, outcome=replace(row.outcome, message=message.rstrip())) if found else row)
    return replace(graded, checks=tuple(rows))
