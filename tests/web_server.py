"""A typed `grade web`, for tests of its pages."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
TOKEN = "a-token-of-the-tests"
WAIT_MS = 45_000


class Server:
    """A typed `grade web`.

    Attributes:
        folder: that it was typed in.
        process: the server.
        url: its address, with a slash at the end.
    """

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.folder = folder
        env = {**os.environ, "TENSORGRADE_WEB_TOKEN": TOKEN, "TENSORGRADE_WARM": "0"}
        command = [sys.executable, "-m", "grader", "web", "--no-browser", *arguments]
        self.process = subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        first = self.process.stdout.readline()
        assert "http://127.0.0.1:" in first, first
        self.url = first[first.index("http") :].split("?")[0]

    def end(self) -> int:
        """Press Ctrl-C."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(60)
