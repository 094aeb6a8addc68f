"""What the README and the pages under docs/ say is run, and compared with what they show.

`python tests/test_docs.py --write` brings the blocks up to date that stand between `<!-- run: ... -->` and
`<!-- end -->`, and draws the pictures that a line `<!-- picture: ... -->` asks for.
"""

from __future__ import annotations

import ast
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import click
import pytest
import words_page
from screen import screen_svg
from support import ROOT, WarmGrade

import grader.accelerator
import grader.check
from grader.cli import COMMANDS, main
from grader.course import files
from grader.course.load import find_exercises, load_course

pytestmark = [pytest.mark.lane, pytest.mark.slow]

README = ROOT / "README.md"
TUTORIAL = ROOT / "docs" / "first-exercise.md"
GUIDE = ROOT / "docs" / "writing-exercises.md"
WORDS = ROOT / "docs" / "check-words.md"
PORTING = ROOT / "docs" / "porting.md"
SECURITY = ROOT / "docs" / "security.md"
SHOWN = [README, ROOT / "docs" / "studying.md", ROOT / "docs" / "grading-a-class.md"]
"""The pages with marked blocks."""

PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]

BLOCK = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_AUTHOR = re.compile(r"\[\d+/\d+\]")
_PACE = re.compile(r"^  (?:\d+ of \d+\b|what was inconclusive is measured again).*\n", re.MULTILINE)
"""A line of progress, which a slow machine prints every ten seconds."""

_TIME = re.compile(r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00")
_PARTS = re.compile(r"[\d,]+ (?=passages of the staff's files)")
"""Which number each edit of an exercise changes."""

RUN = re.compile(r"(<!-- run: (.+?) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
PICTURE = re.compile(r"<!-- picture: (\S+) of (grade .+?) with (\S+) -->")
LINK = re.compile(r"\[[^\]]+\]\(([^)#]+)(?:#([^)]+))?\)")


# -- a console ------------------------------------------------------------------------------------------------------


@dataclass
class Console:
    """Types commands as a reader would: `grade`, `cd`, `rm` and `sed`."""

    folder: Path
    written: set[str] = field(default_factory=set)

    def type(self, command: str) -> str:
        """Run one command; give what it prints."""
        program, *arguments = shlex.split(command)
        if program == "cd":
            self.folder /= arguments[0]
            return ""
        if program in ("rm", "sed"):
            subprocess.run([program, *arguments], cwd=self.folder, check=True)
            return ""
        assert program == "grade", f"a reader's test does not know how to run: {command}"
        with pytest.MonkeyPatch.context() as patch:
            # As in an environment that is active: the command is found by its name.
            patch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
            return WarmGrade().result(*arguments, cwd=self.folder).output

    def write(self, name: str, text: str) -> None:
        """Write a block to its file; a Python file that comes in several blocks is put together."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        goes_on = name in self.written and not re.match(r'"""|import |from ', text)
        path.write_text(path.read_text(encoding="utf-8") + "\n\n" + text if goes_on else text, encoding="utf-8")
        self.written.add(name)


def steady(text: str) -> str:
    """The text without what differs from run to run or from machine to machine."""
    text = _PACE.sub("", text)
    return re.sub(r"on \d+ lanes", "on N lanes", re.sub(r" +\d+\.\d\d s$", " T s", text, flags=re.MULTILINE))


def fits(shown: str, printed: str) -> bool:
    """Whether a page shows what was printed; a line `...` stands for any lines."""
    lines = [r"(?:.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in steady(shown).splitlines()]
    return re.fullmatch("".join(lines), steady(printed)) is not None


def console_steps(text: str) -> Iterator[tuple[str, str]]:
    """Each command of a console block, with the output shown below it."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown


def fresh_course(folder: Path) -> Console:
    """A console in a copy of the bundled course and the sample class, so that nothing is written beside the sources."""
    course = folder / "course"
    for name in ("exercises", "solutions", "examples"):
        shutil.copytree(ROOT / name, course / name)
    shutil.copy(ROOT / "course.yaml", course)
    return Console(course)


def rendered(command: str, console: Console) -> str:
    """What stands between the marks: the command with its output, authors of a batch in order.

    A busy machine compares speeds again when the rest is done, and whose are compared again is told last.
    """
    text = _TIME.sub("2026-10-02T09:30:00+00:00", _PACE.sub("", console.type(command)))
    lines = _PARTS.sub("5,000 ", text).splitlines(keepends=True)
    authors = iter(sorted(line for line in lines if _AUTHOR.match(line)))
    printed = "".join(next(authors) if _AUTHOR.match(line) else line for line in lines)
    return f"```console\n$ {command}\n{printed}```\n"


def drawn(command: str, answers: str, console: Console) -> str:
    """What a student sees who has written these answers, as an SVG: the command, and what it prints of the exercise."""
    for answer in (ROOT / answers).glob("*.py"):
        (place,) = console.folder.glob(f"exercises/*/{answer.stem}/{answer.name}")
        # Below the task, as a student writes it: the rules are read there.
        starter = place.read_text(encoding="utf-8")
        task = starter.splitlines(keepends=True)[: ast.parse(starter).body[0].end_lineno]
        place.write_text(f"{''.join(task)}\n{answer.read_text(encoding='utf-8')}", encoding="utf-8")
    printed = console.type(command).partition("\n\n---")[0].splitlines()
    lines = [f"$ {command}", *printed]
    return screen_svg(lines, "A failing check with its picture and its diagnosis", "\n".join(lines))


# -- pages that are run ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", SHOWN, ids=lambda page: page.name)
def test_pages_show_what_is_printed(tmp_path: Path, page: Path) -> None:
    """Each marked block is what its command prints, and each `grade` line of the page is in one."""
    console = fresh_course(tmp_path)
    text = page.read_text(encoding="utf-8")
    blocks = RUN.findall(text)
    lines = re.findall(r"^\$ ((?:grade|sed) .*)$", text, re.MULTILINE)
    assert blocks
    assert set(lines) == {command for _, command, _, _ in blocks}
    for _, command, shown, _ in blocks:
        assert rendered(command, console) == shown, "run: python tests/test_docs.py --write"


def test_pictures_show_what_is_printed(tmp_path: Path) -> None:
    """Each picture of the README is what its command prints for these answers, and the page shows it."""
    console = fresh_course(tmp_path)
    text = README.read_text(encoding="utf-8")
    assert PICTURE.findall(text)
    for path, command, answers in PICTURE.findall(text):
        assert drawn(command, answers, console) == (ROOT / path).read_text(encoding="utf-8"), "run this file --write"
        assert re.search(rf"!\[[^\]]+\]\({re.escape(path)}\)", text)


def test_guide_works_as_written(tmp_path: Path) -> None:
    """A reader who writes each file and types each command gets what both pages show, and a verified exercise."""
    console = Console(tmp_path)
    both = TUTORIAL.read_text(encoding="utf-8") + GUIDE.read_text(encoding="utf-8")
    for kind, title, text in BLOCK.findall(both):
        if title:
            console.write(title, text)
        elif kind == "console":
            for command, shown in console_steps(text):
                printed = console.type(command)
                assert fits(shown, printed), f"$ {command}\n{printed}"


# -- pages that are complete ----------------------------------------------------------------------------------------


def test_guide_names_every_helper() -> None:
    """Each helper that checks can import is used in the guide's code, beyond its import."""
    code = "".join(text for kind, _, text in BLOCK.findall(GUIDE.read_text(encoding="utf-8")) if kind == "python")
    assert [name for name in grader.check.__all__ if len(re.findall(rf"\b{name}\b", code)) < 2] == []


def test_words_are_those_of_the_docstrings() -> None:
    """The page of words is what the docstrings say, of every word."""
    told = re.findall(r"^### `(\w+)`$", words_page.page(), re.MULTILINE)
    assert sorted(told) == sorted(grader.check.__all__)
    assert WORDS.read_text(encoding="utf-8") == words_page.page(), "run: python tests/test_docs.py --write"


def test_evidence_of_every_check_function_is_stated() -> None:
    """Each name of `grader.check` has one row in the table of evidence, and each row has a name of it."""
    section = SECURITY.read_text(encoding="utf-8").partition("## What each check function relies on")[2]
    rows = re.findall(r"^\| (`[^|]+) \| .+ \| .+ \|$", section.partition("\n## ")[0], re.MULTILINE)
    assert sorted(re.findall(r"`(\w+)`", " ".join(rows))) == sorted(grader.check.__all__)


def test_ports_are_those_of_the_example() -> None:
    """What the page of ports shows with a file's name stands in that file of the example course."""
    blocks = [(title, text) for _, title, text in BLOCK.findall(PORTING.read_text(encoding="utf-8")) if title]
    assert blocks
    assert [title for title, text in blocks if text not in (ROOT / title).read_text(encoding="utf-8")] == []


def test_guide_names_every_key() -> None:
    """Each key of the YAML files stands in one of the guide's YAML blocks."""
    yaml = "".join(text for kind, _, text in BLOCK.findall(GUIDE.read_text(encoding="utf-8")) if kind == "yaml")
    models = (files.CourseFile, files.ExerciseFile, files.HandInEntry, files.LimitsEntry, files.ModuleEntry)
    keys = {key for model in (*models, files.PolicyEntry, files.WithheldEntry) for key in model.model_fields}
    assert [key for key in keys if not re.search(rf"^[ -]*{key}:", yaml, re.MULTILINE)] == []


def command_of(name: str) -> click.Command:
    command = main.get_command(click.Context(main), name)
    assert command is not None
    return command


def test_every_command_is_described() -> None:
    """Each command of `grade --help` stands in the README or a page under docs/."""
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    commands = [name for name in COMMANDS if not command_of(name).hidden]
    assert commands
    assert [name for name in commands if f"grade {name}" not in text] == []


def test_every_name_of_the_accelerator_has_its_entry() -> None:
    """The page of the site lists what is documented; `make docs`, which looks at the built page, is not in CI's run."""
    page = (ROOT / "docs/reference/accelerator.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\.\. auto\w+:: grader\.accelerator\.(\w+)", page, re.MULTILINE)
    assert sorted(listed) == sorted(grader.accelerator.__all__)


def test_commands_in_sentences_exist() -> None:
    """Each option of a `grade` command that a sentence names is one, and each exercise is in the bundled course."""
    course = load_course(ROOT)
    wrong = []
    for page in PAGES:
        for line in re.findall(r"`grade ([^`\n]+)`", page.read_text(encoding="utf-8")):
            first, *rest = line.split()
            command = command_of(first if first in COMMANDS else "run")
            options = {option for parameter in command.params for option in parameter.opts} | {"--help"}
            unknown = [word for word in (first, *rest) if word.startswith("--") and word not in options]
            if not unknown and first not in COMMANDS and not first.startswith("--"):
                assert find_exercises(course, first), first
            if unknown:
                wrong.append(f"{page.name}: grade {line}")
    assert wrong == []


def test_rules_of_platforms_have_tests() -> None:
    """Each row of the table of platforms says whether it was read or run, and names a test that exists."""
    page = (ROOT / "docs" / "platforms.md").read_text(encoding="utf-8")
    rows = [re.split(r" \| ", line.strip("| ")) for line in page.splitlines() if line.startswith("| ")]
    rules = [row for row in rows if row[0] != "rule"]
    assert len(rules) > 25
    assert [row[0] for row in rules if len(row) != 4 or not re.match("read$|run: ", row[2])] == []
    named = [name for row in rules for name in re.findall(r"`([\w/]+\.py(?:::\w+)?)`", row[3])]
    files = {name.split("::")[0]: (ROOT / "tests" / name.split("::")[0]).read_text("utf-8") for name in named}
    assert [name for name in named if f"def {name.split('::')[-1]}(" not in files[name.split("::")[0]]] == []
    assert [row[0] for row in rules if "::" not in row[3]] == []


def test_links_resolve() -> None:
    """Each link from one file to another leads to a file that exists, and to a heading in it."""
    broken = []
    for page in PAGES:
        for target, anchor in LINK.findall(page.read_text(encoding="utf-8")):
            path = (page.parent / target).resolve()
            is_there = target.startswith("https:") or (path.exists() and (not anchor or anchor in anchors(path)))
            if not is_there:
                broken.append(f"{page.name}: {target}{'#' * bool(anchor)}{anchor}")
    assert broken == []


def anchors(page: Path) -> list[str]:
    """The names by which links find the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return [re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings]


def test_page_of_mistakes_has_those_that_are_kept() -> None:
    """Each exercise has thirty mistakes in `tools/mistakes`, and the page has a row for each of them, no other."""
    page = (ROOT / "docs" / "mistakes.md").read_text(encoding="utf-8")
    parts = re.split(r"\n## ", page)[1:]
    rows = {part.split()[0]: re.findall(r"^\| (.+?) \|", part, re.MULTILINE)[1:] for part in parts}
    for exercise in load_course(ROOT).exercises:
        text = (ROOT / "tools" / "mistakes" / f"{exercise.number}.txt").read_text(encoding="utf-8")
        names = [name for name in re.findall(r"^== (.+?)(?:: [\w ]+)?$", text, re.MULTILINE) if name != "right"]
        assert len(names) >= 30
        assert rows[exercise.number] == names, "run: python tools/mistakes.py --write"


def test_lines_are_short() -> None:
    """No line of prose is longer than a line of code may be; tables and blocks of output are left alone."""
    long = []
    for page in PAGES:
        prose = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        lines = [line for line in prose.split("\n") if not line.startswith("|")]
        long += [f"{page.name}: {line}" for line in lines if len(line) > 120]
    assert long == []


# -- `python tests/test_docs.py --write` ----------------------------------------------------------------------------


def write_pages() -> None:
    """Run the commands of all marked blocks and put their output in; draw the pictures; write the page of words."""
    with tempfile.TemporaryDirectory() as folder:
        console = fresh_course(Path(folder))
        text = README.read_text(encoding="utf-8")
        for page in SHOWN:
            old = page.read_text(encoding="utf-8")
            new = RUN.sub(lambda found: found[1] + rendered(found[2], console) + found[4], old)
            page.write_text(new, encoding="utf-8")
        for path, command, answers in PICTURE.findall(text):
            (ROOT / path).write_text(drawn(command, answers, console), encoding="utf-8")
    WORDS.write_text(words_page.page(), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python tests/test_docs.py --write")
    write_pages()
