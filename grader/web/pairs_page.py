"""Pairs of submissions that have much code in common, side by side, without a verdict."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote

from nicegui import ui

from grader.model import Exercise
from grader.model.progress import Progress
from grader.model.score import pluralize
from grader.report.console import requirements_of_extra
from grader.report.safe import for_html
from grader.web import look
from grader.web.class_data import Snapshot

if TYPE_CHECKING:
    from grader.batch.similar import Side, SimilarPairs

_REFRESH_S = 0.5


class _ComparedPairs(Progress):
    """A progress whose text says how many pairs were compared."""

    text = ""

    def advanced(self, done: int, total: int) -> None:
        """Record how many of all pairs are compared: "3 of 10 pairs"."""
        self.text = f"{done} of {total} pairs"


class PairsPage:
    """The last comparison of all pairs of submissions, which all windows show until something is graded again."""

    def __init__(self) -> None:
        self._version = ""
        self._found: list[SimilarPairs] = []

    def show(self, now: Snapshot) -> None:
        """Build the page with pairs of submissions that have much code in common."""
        look.heading("Pairs to read side by side", 1)
        look.html(
            "<p><b>This is not a verdict.</b> People who learned from one source, or who solve a task in its usual "
            "way, write alike, too. Read both, and talk with their authors before you decide anything. What both have "
            "is marked; names and lines of the starter do not count.</p>"
        )
        place = ui.element("div").style("width:100%")
        far = _ComparedPairs()

        async def compare() -> None:
            """Compare all pairs in a thread, then show those that have much in common.

            Meanwhile the page shows how many pairs were compared.
            """
            place.clear()
            with place:
                said = look.html("<p>Comparing ...</p>").props('role="status" aria-live="polite"')
                timer = ui.timer(_REFRESH_S, lambda: said.set_content(f"<p>Comparing {far.text} ...</p>"))
            try:
                found = await asyncio.to_thread(_compare_all, now, far)
            except ModuleNotFoundError as error:
                if error.name != "copydetect":
                    raise
                said.content = (
                    f"<p>This needs copydetect: <code>pip install {requirements_of_extra('similarity')}</code></p>"
                )
                return
            finally:
                timer.cancel()
            self._version, self._found = now.version, found
            place.clear()
            with place:
                _show_found(found)

        with place:
            if self._version == now.version:
                _show_found(self._found)
            else:
                look.button("Compare", compare, first=True)


def _compare_all(now: Snapshot, progress: Progress) -> list[SimilarPairs]:
    from grader.batch.similar import similar_files

    def files(exercise: Exercise) -> dict[str, bytes]:
        return {author: text for (author, id), (_, text) in now.files.items() if id == exercise.id}

    return [one for item in now.course.exercises for one in similar_files(item, files(item), progress)]


def _show_found(found: Sequence[SimilarPairs]) -> None:
    """Show, for each exercise, the pairs of files that have much in common, side by side."""
    for item in found:
        with ui.element("section").style("width:100%"):
            look.heading(f"{item.exercise.number} {item.exercise.title}")
            look.html(f'<p class="soft">{pluralize(item.compared, "submission")}: {for_html(item.in_words)}.</p>')
            for number, pair in enumerate(item.pairs):
                with ui.element("details").classes("card").props("" if number else "open"):
                    look.html(" and ".join(f"{for_html(author)} ({share:.0%})" for author, share, _ in pair), "summary")
                    with ui.element("div").classes("work two"):
                        for side, place in zip(pair, ("task", "edit"), strict=True):
                            _show_side(side, place)
            if item.more:
                look.html(f'<p class="soft">{pluralize(item.more, "more pair")}, which have less in common.</p>')
    if not found:
        look.html("<p>Fewer than two files of an exercise were handed in.</p>")


def _show_side(side: Side, place: str) -> None:
    author, share, parts = side
    text = "".join(f"<mark>{for_html(part)}</mark>" if both else for_html(part) for part, both in parts)
    with ui.element("div").classes(place):
        link = f'<a href="author/{quote(author, safe="")}">{for_html(author)}</a>'
        look.html(f"<p>{link}: {share:.0%} of it is in the other one</p>")
        look.html(f'<pre class="code" tabindex="0" style="max-height:40rem">{text}</pre>')
