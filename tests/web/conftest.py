"""A server of `grade web` on a copy of the pretend course, and a real browser that has no window."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from web_server import CHROMIUM, TOKEN, WAIT_MS, Server


@pytest.fixture
def server(home: Path) -> Iterator[Server]:
    """A server on a copy of the pretend course."""
    pytest.importorskip("nicegui", reason="NiceGUI is not installed: pip install 'tensorgrade[web]'")
    running = Server(home)
    yield running
    if running.process.poll() is None:
        running.end()
    assert running.process.stdout is not None
    running.process.stdout.close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium without a window."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this machine")
    api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def window(browser: Any, server: Server) -> Iterator[Any]:
    """A window of that browser, which has the token."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    context.set_default_timeout(WAIT_MS)
    page = context.new_page()
    page.goto(f"{server.url}?token={TOKEN}")
    yield page
    context.close()
