"""What a student waits for in the browser: a page, and from a key press to the verdict, next to `grade watch`.

    python benchmarks/page_waits.py [--rounds 10] [EXERCISE]

Chromium has no window. In a copy of the course, a character is typed into a comment at the end of a right answer. The
time runs in the page, from the key press to the line that says how many checks pass. `grade watch` then gets as many
saves of the same text, as in `student_waits.py`. A page is loaded when its heading and its editor are there. It needs
`playwright` and a Chromium.
"""

from __future__ import annotations

import os
import shutil
import signal
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import builds
import click
from student_waits import saves_of

from grader.course.answers import read_answer
from grader.course.load import find_exercises, load_course

TOKEN = "benchmark"
LONGER_MS, LOAD_MS = 300, 1000
_WAIT_MS = 60_000
_PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")
_OBSERVE = """() => {
  const status = document.querySelector('.edit [role=status]');
  window.pressed = null; window.told = null;
  document.addEventListener('keydown', () => { window.pressed = performance.now(); window.told = null; }, true);
  new MutationObserver(() => { if (window.pressed !== null && / checks pass/.test(status.innerText))
    window.told ??= performance.now(); else window.told = null; })
    .observe(status, {childList: true, subtree: true, characterData: true});
}"""


@click.command(help=__doc__)
@click.argument("exercise", default="read_the_storage")
@click.option("--rounds", default=10, help="How many key presses, saves and loads are timed.")
def main(exercise: str, rounds: int) -> None:
    """Time loads and key presses in the browser, then saves in `grade watch`."""
    (found,) = find_exercises(load_course(builds.ROOT), exercise, ())
    assert found.reference is not None
    answer = read_answer(found, found.reference).source + b"\n# "
    with tempfile.TemporaryDirectory(prefix="page-waits-") as folder, builds.opened(()) as (build,):
        course = Path(folder, "course")
        builds.run(build.grade("start", course), Path(folder), build.environment())
        file = next(course.glob(f"exercises/*/{found.id}/{found.id}.py"))
        file.write_bytes(answer)
        with _server(build, course) as url, _window() as page:
            loads = _loads(page, url, found.id, rounds)
            keys = _key_presses(page, rounds)
        watched = saves_of(build, file, found.id, answer, rounds)
        builds.run(build.grade("stop"), Path(folder), build.environment())  # its warm processes
    for name, ms in loads.items():
        print(f"{name}: median {statistics.median(ms):.0f} ms, longest {max(ms):.0f} ms (target {LOAD_MS})")
    key, save = statistics.median(keys), statistics.median(watched)
    print(f"key press to verdict on the page: median {key:.0f} ms, longest {max(keys):.0f} ms")
    print(f"save to verdict in grade watch: median {save:.0f} ms, longest {max(watched):.0f} ms")
    print(f"the page takes {key - save:.0f} ms longer (target {LONGER_MS})")


@contextmanager
def _server(build: builds.Build, course: Path) -> Iterator[str]:
    process = subprocess.Popen(
        build.grade("web", "--no-browser"),
        cwd=course,
        env=build.environment(TENSORGRADE_WEB_TOKEN=TOKEN),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        line = next((line for line in process.stdout if "http://" in line), "")
        if not line:
            raise click.ClickException("grade web has ended")
        yield line[line.index("http") :].split("?")[0]
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)
        process.stdout.close()


@contextmanager
def _window() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, _PROGRAMS)), None)
    with sync_playwright() as playwright:
        root = hasattr(os, "geteuid") and os.geteuid() == 0
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"] if root else [])
        page = browser.new_context(viewport={"width": 1400, "height": 900}).new_page()
        page.set_default_timeout(_WAIT_MS)
        yield page
        browser.close()


def _loads(page: Any, url: str, exercise: str, rounds: int) -> dict[str, list[float]]:
    """Return the milliseconds of each load of the map and of an exercise; the first one is not counted."""
    page.goto(f"{url}?token={TOKEN}")
    ends = {"": "h1", f"exercise/{exercise}": ".cm-content"}
    taken: dict[str, list[float]] = {"the map": [], "an exercise": []}
    for _ in range(rounds + 1):
        for (path, end), times in zip(ends.items(), taken.values(), strict=True):
            started = time.perf_counter()
            page.goto(f"{url}{path}", wait_until="commit")
            page.wait_for_selector(end)
            times.append(1000 * (time.perf_counter() - started))
            page.wait_for_timeout(200)
    return {name: times[1:] for name, times in taken.items()}


def _key_presses(page: Any, rounds: int) -> list[float]:
    """Return the milliseconds from each key press to the verdict on the page."""
    page.wait_for_selector("text=/All \\d+ checks pass/")
    page.click(".cm-content")
    page.keyboard.press("Control+End")
    page.evaluate(_OBSERVE)
    taken = []
    for number in range(rounds):
        page.keyboard.press(str(number % 10))
        page.wait_for_function("window.told !== null && window.told > window.pressed")
        taken.append(float(page.evaluate("window.told - window.pressed")))
        page.wait_for_timeout(1000)  # what follows a verdict, such as known mistakes, is done
    return taken


if __name__ == "__main__":
    main()
