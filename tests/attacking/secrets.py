"""Canaries: random words and numbers, planted in a copy of the course and beside it, searched for afterwards."""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_WORD = re.compile(r"CANARY_[A-Z]+|canary_[a-z]+")
_INPUT, _ANSWER = "918273645", "1836547290"
"""A hidden number in the course, and twice that: what is asked."""


@dataclass(frozen=True)
class Secrets:
    """The canaries of one run."""

    mark: str
    number: int

    @classmethod
    def drawn(cls) -> Secrets:
        """New ones."""
        draw = random.SystemRandom()
        return cls("".join(draw.choices("bcdfghjkmnpqrstvwxz", k=8)), draw.randrange(600_000_001, 999_999_999))

    def word(self, what: str) -> str:
        """A canary that says where it was planted."""
        return f"CANARY_{what.upper()}_{self.mark}"

    def plant_in_course(self, course: Path, to: Path) -> None:
        """Copy a course with its canaries made random."""
        shutil.copytree(course, to, ignore=shutil.ignore_patterns("__pycache__"))
        for path in to.rglob("*"):
            if path.is_file():
                text = path.read_text(encoding="utf-8")
                text = _WORD.sub(lambda found: f"{found[0]}_{self.mark}", text)
                text = text.replace(_ANSWER, str(2 * self.number)).replace(_INPUT, str(self.number))
                path.write_text(text, encoding="utf-8")

    def plant_in_home(self, home: Path) -> dict[str, str]:
        """Make a home with secrets in it; the environment that goes with it."""
        home.mkdir()
        for name in (".netrc", "notes.txt", "solutions.py"):
            (home / name).write_text(self.word("home") + "\n", encoding="utf-8")
        return {"HOME": str(home), "AWS_SECRET_ACCESS_KEY": self.word("env"), self.word("name"): "1"}

    def found_in(self, texts: Mapping[str, str]) -> Iterator[str]:
        """Where a canary, or the hidden number or its answer, stands in texts that students see."""
        wanted = re.compile(rf"\w*{self.mark}\w*|{self.number}|{2 * self.number}", re.IGNORECASE)
        for place, text in texts.items():
            for line in text.split("\n"):
                if found := wanted.search(line):
                    yield f"{place} tells {found[0]}: {line.strip()[:200]}"
