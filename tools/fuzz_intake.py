"""A fuzzer on all that people hand in or name: no exception reaches the host, and no reading exceeds its limits.

hand_in     one author's file: a zip, a tar, a notebook, Python
download    a class's folder or zip, as a platform lays it out, with the tables and YAML files of that platform
text        a file of which the names, the anonymous text or the tokens are wanted
table       a roster, overrides and a list of repositories
report      a report for --like, for `grade report` and for a term
journal     a journal, with its seed
yaml        course.yaml, exercise.yaml

Each round takes a known input, changes it as what it is (entries of an archive, cells of a notebook, keys of JSON,
cells of a table) or as bytes, and has it read in the way commands do. A reading may end with a result or with an error
for people; anything else is a finding, and so is one that takes longer than its limits, or makes this process larger
than `--most-mb`. A finding is printed once for each place where it shows; its input is kept in FOLDER, and the fuzzer
goes on. What gives an answer of a new form is changed again later.

    python tools/fuzz_intake.py FOLDER --minutes 60 --seed 1
    python tools/fuzz_intake.py FOLDER --try FOLDER/0007-hand_in-answer.zip      # once, with its traceback
"""

from __future__ import annotations

import argparse
import collections
import copy
import csv
import functools
import io
import json
import random
import re
import resource
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import traceback
import warnings
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from grader.batch.journal import open_journal
from grader.batch.overrides import OVERRIDES, read_overrides
from grader.ci.clones import read_class
from grader.course.files import ExerciseFile, read_file
from grader.course.load import load_course
from grader.grading.secret import load_or_make_secret
from grader.intake import collect
from grader.intake.contents import Handed, Part
from grader.model import Course
from grader.model.errors import GraderError, SubmissionError
from grader.report.people import people_in
from grader.report.read import read_report
from grader.report.repeat import read_like

ROOT = Path(__file__).resolve().parents[1]
LONGEST_BYTES = 2 << 20
POOL = 400
"""Inputs that are kept to be changed again, of each kind."""
ASK_S = collect._WALL_FACTOR * collect.CPU_S
CLASS_CPU_S = 60
"""In place of the half hour that ten thousand people's download may take."""
LIMITS_S = {"hand_in": 2 * ASK_S, "text": ASK_S, "download": collect._WALL_FACTOR * CLASS_CPU_S}
SLOW_S = 5.0
WEIGHTS = {"hand_in": 10, "text": 3, "table": 4, "report": 4, "journal": 1, "yaml": 2, "download": 1}
"""How often each kind is drawn; each download starts a process."""
HOST_S = 20.0
"""What this process reads itself takes no longer."""

ODD_NAMES = (
    *("../x.py", "/etc/x.py", "C:\\x.py", "a/" * 40 + "x.py", "n" * 300 + ".py", "total.py\udcff.py", "CON", "x.py/"),
    *(
        "total .py",
        "total.py.txt",
        "TOTAL.PY",
        "tätal.py",
        "..",
        ".",
        "",
        "__pycache__/total.pyc",
        "a\0b.py",
        "a\nb.py",
    ),
    *("submission_metadata.yml", "timestamp.txt", "scores.csv", "course.yaml", "pyvenv.cfg", "total.ipynb", "t.tar.gz"),
)
ODD_TEXTS = (
    *("", "\0", "\ufeff", "\udcff", "=1+1", "a" * 5000, "[" * 300, "{" * 300, "1e999", "-0", "NaN", "null", "\u202e"),
    *("%%bash\nls", "%load x", "!ls", "9" * 5000, "def total(x):\n    return x.sum()", "x" + ".a" * 3000, '"' * 7),
    *("-" * 2000 + "1", "(" * 250 + ")" * 250, "lambda: " * 300 + "0", "# -*- coding: utf-7 -*-\n+AGE-", "\\N{DASH}"),
    *(
        "# coding: rot13\nk=1",
        "f'{" * 80,
        "if 1:\n" + "".join(" " * n + "if 1:\n" for n in range(1, 150)),
        "x = 1\r\r\n",
    ),
)
ODD_VALUES: tuple[Any, ...] = (None, True, 0, -1, 1 << 70, 1e308, "", [], {}, [[[[]]]], {"a": {"a": {}}}, *ODD_TEXTS)


@dataclass(frozen=True)
class Input:
    """What is read: the name of its file, and its bytes."""

    name: str
    data: bytes


class Fuzzer:
    """Inputs and what was found with them.

    Args:
        folder: for findings.
        seed: of all that is drawn.
        most_mb: how large this process may become.
    """

    def __init__(self, folder: Path, seed: int, most_mb: int) -> None:
        self.folder, self.random, self.most_mb = folder, random.Random(seed), most_mb
        self.course = load_course(ROOT / "tests" / "courses" / "tiny")
        self.pools = {kind: list(make(self.course)) for kind, make in SEEDS.items()}
        self.seen: set[tuple[str, str]] = set()
        self.places: set[str] = set()
        self.rounds = collections.Counter[str]()
        self.longest = collections.Counter[str]()
        self.inside = collections.Counter[str]()

    def once(self) -> None:
        """Change one input, have it read, and report a crash, an error of ours, or too much time or memory."""
        (kind,) = self.random.choices(list(WEIGHTS), [*WEIGHTS.values()])
        chosen = self.random.choice(self.pools[kind])
        for _ in range(self.random.choice((0, 1, 1, 1, 2, 4))):
            chosen = self.changed(chosen)
        chosen = Input(chosen.name, chosen.data[:LONGEST_BYTES])
        began = time.monotonic()
        try:
            said = self.read(kind, chosen)
        except GraderError as error:  # for people
            said = f"{type(error).__name__}: {error}"
            if not isinstance(error, SubmissionError) and kind in ("hand_in", "text"):
                self.report_finding(kind, chosen, f"an error of ours: {error}")
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            self.report_finding(kind, chosen, traceback.format_exc())
            said = "finding"
        seconds = time.monotonic() - began
        self.rounds[kind] += 1
        if seconds > SLOW_S:  # within its limits, but worth a look
            (self.folder / f"slow-{kind}-{Path(chosen.name).name}").write_bytes(chosen.data)
            print(f"slow: {kind} {chosen.name} {seconds:.1f} s: {said[:200]}", flush=True)
        self.longest[kind] = max(self.longest[kind], int(seconds * 1000))
        if seconds > LIMITS_S.get(kind, HOST_S):
            self.report_finding(kind, chosen, f"it took {seconds:.0f} s\nreading of kind {kind}")
        if (used := resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10) > self.most_mb:
            self.report_finding(kind, chosen, f"this process has {used} MiB\nreading of kind {kind}")
            self.most_mb = 2 * used
        if unexpected := re.search(r"reading it failed \((\w+): ", said):
            self.inside[unexpected[1]] += 1
            (self.folder / f"inside-{kind}-{Path(chosen.name).name}").write_bytes(chosen.data)
        form = re.sub(r"""'[^']*'|"[^"]*"|\d+|/\S+""", "#", said)[:300]
        if (kind, form) not in self.seen:
            self.seen.add((kind, form))
            pool = self.pools[kind]
            if len(pool) >= POOL:
                pool.pop(self.random.randrange(len(pool)))
            pool.append(chosen)

    def read(self, kind: str, chosen: Input) -> str:
        """Read an input in a folder of its own, and return in words what the reader found.

        Raises:
            GraderError: the reader refuses the input, with a message for people.
        """
        with tempfile.TemporaryDirectory(prefix="fuzz-", ignore_cleanup_errors=True) as folder:
            return READERS[kind](Path(folder), chosen, self.course)

    def report_finding(self, kind: str, chosen: Input, text: str) -> None:
        """Print what is wrong and write the input to a file, unless the same place in our code was reported before."""
        place = "".join(re.findall(r"File .*, line \d+, in \w+", text)[-2:]) or text.split("\n")[-1]
        if place in self.places:
            return
        self.places.add(place)
        kept = self.folder / f"{len(self.places):04d}-{kind}-{Path(chosen.name).name}"
        kept.write_bytes(chosen.data)
        print(f"FINDING {kept}\n{text}", flush=True)

    # -- how inputs are changed ------------------------------------------------------------------------------------

    def changed(self, one: Input) -> Input:
        """Return an input with one change."""
        draw, name = self.random, one.name
        if draw.random() < 0.05 and "." in name:
            name = draw.choice(("total", "double", "x")) + draw.choice(
                (".py", ".ipynb", ".zip", ".tar", ".tar.gz", ".tar.xz", ".tgz", ".txt", ".json", ".py.html", "", ".PY")
            )
        change: Callable[[bytes], bytes] = self.bytes_changed
        if draw.random() < 0.7:
            if one.data[:2] == b"PK":
                change = self.zip_changed
            elif name.endswith((".tar", ".tgz", ".gz", ".xz", ".bz2")):
                change = self.tar_changed
            elif one.data[:1] in (b"{", b"["):
                change = self.json_changed
            elif name.endswith(".csv"):
                change = self.table_changed
            elif name.endswith((".py", ".txt", ".yaml", ".yml")):
                change = self.text_changed
        try:
            return Input(name, change(one.data))
        except Exception:  # it is too far from what it was
            return Input(name, self.bytes_changed(one.data))

    def bytes_changed(self, data: bytes) -> bytes:
        """Return data with bytes flipped, cut, doubled, inserted, or taken from another input."""
        draw, text = self.random, bytearray(data)
        for _ in range(draw.choice((1, 1, 2, 8))):
            at = draw.randrange(len(text) + 1)
            match draw.randrange(7):
                case 0:
                    text[at : at + 1] = bytes([draw.randrange(256)])
                case 1:
                    del text[at : at + draw.choice((1, 2, 16, 500))]
                case 2:
                    text[at:at] = draw.randbytes(draw.choice((1, 4, 64)))
                case 3:
                    text[at:at] = text[at : at + draw.choice((1, 20, 400))] * draw.choice((1, 2, 30))
                case 4:
                    del text[at:]
                case 5:
                    text[at:at] = draw.choice(ODD_TEXTS).encode("utf-8", "surrogatepass")
                case _:
                    other = draw.choice(draw.choice(list(self.pools.values()))).data
                    begin = draw.randrange(len(other) + 1)
                    text[at:at] = other[begin : begin + draw.choice((8, 100, 2000))]
        return bytes(text)

    def text_changed(self, data: bytes) -> bytes:
        """Return data with lines doubled, moved, removed, or replaced by odd ones."""
        draw, lines = self.random, data.decode("utf-8", "surrogateescape").splitlines(keepends=True) or [""]
        at = draw.randrange(len(lines))
        match draw.randrange(5):
            case 0:
                lines.insert(at, lines[draw.randrange(len(lines))])
            case 1:
                lines.insert(at, draw.choice(ODD_TEXTS) + "\n")
            case 2:
                lines[at] = lines[at].rstrip("\n") + draw.choice(ODD_TEXTS) + "\n"
            case 3:
                lines *= draw.choice((2, 50))
            case _:
                del lines[at]
        return "".join(lines).encode("utf-8", "surrogatepass")

    def json_changed(self, data: bytes) -> bytes:
        """Return JSON with a value replaced, removed, doubled, or put into others."""
        draw, tree = self.random, json.loads(data)
        places = [(holder, key) for holder in _holders(tree) for key in _keys(holder)]
        holder, key = draw.choice(places)
        match draw.randrange(6):
            case 0:
                del holder[key]
            case 1:
                deep = draw.choice((2, 40, 2000, 20_000))
                return json.dumps(tree).encode().replace(b'"cells"', b'"x":' + b"[" * deep + b"]" * deep + b', "cells"')
            case 2:
                holder[key] = [copy.deepcopy(holder[key]) for _ in range(draw.choice((2, 50)))]
            case 3:
                if isinstance(holder, dict):
                    holder[draw.choice(ODD_TEXTS)] = holder.pop(key)
            case 4:
                holder[key] = copy.deepcopy(draw.choice(places)[0])
            case _:
                holder[key] = draw.choice(ODD_VALUES)
        return json.dumps(tree).encode()

    def table_changed(self, data: bytes) -> bytes:
        """Return a table with a cell replaced, a row doubled or cut, or another delimiter."""
        draw = self.random
        rows = list(csv.reader(io.StringIO(data.decode("utf-8", "surrogateescape")))) or [[""]]
        row = draw.choice(rows)
        match draw.randrange(5):
            case 0 if row:
                row[draw.randrange(len(row))] = draw.choice(ODD_TEXTS)
            case 1:
                rows.insert(draw.randrange(len(rows)), list(row) * draw.choice((1, 2, 100)))
            case 2:
                del row[draw.randrange(len(row) + 1) :]
            case 3:
                rows *= draw.choice((2, 200))
            case _:
                rows.append([draw.choice(ODD_TEXTS) for _ in range(draw.choice((1, 5, 40)))])
        text = io.StringIO()
        csv.writer(text, delimiter=draw.choice(",,,;\t"), lineterminator=draw.choice(("\n", "\r\n"))).writerows(rows)
        return text.getvalue().encode("utf-8", "surrogatepass")

    def member(self) -> tuple[str, bytes]:
        """Return the name and the content of a file for an archive; the name, the content or both are odd."""
        draw = self.random
        other = draw.choice(self.pools["hand_in"])
        name = draw.choice((draw.choice(ODD_NAMES), other.name, f"{draw.choice('abc')}/{other.name}"))
        zeros = bytes(draw.choice((0, 0, 0, 1 << 20, 64 << 20)))  # sixty-four of them are more than may be read
        data = draw.choice((other.data, draw.choice(ODD_TEXTS).encode("utf-8", "surrogatepass"), zeros))
        return name, data

    def zip_changed(self, data: bytes) -> bytes:
        """Return a zip with one more entry, with a changed entry, or with other numbers in its directory."""
        draw = self.random
        with zipfile.ZipFile(io.BytesIO(data)) as old:
            members = [(info, old.read(info)) for info in old.infolist() if not info.flag_bits & 1]
        if members and draw.random() < 0.3:
            info, text = draw.choice(members)
            members.append((info, self.changed(Input(info.filename, text)).data))
        else:
            name, text = self.member()
            info = zipfile.ZipInfo(
                name.encode("utf-8", "replace").decode() or "x", (1980 + draw.randrange(100), 1, 1, 0, 0, 0)
            )
            warnings.simplefilter("ignore")  # names that stand twice are wanted
            info.external_attr = draw.choice((0, 0o120777 << 16, 0o100644 << 16, 0o10644 << 16, 0o40755 << 16))
            members += [(info, text)] * draw.choice((1, 1, 2))
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w") as new:
            for info, text in members[:300]:
                info.compress_type = draw.choice((0, 8, 8, 12, 14))
                new.writestr(info, text)
        whole = bytearray(made.getvalue())
        if draw.random() < 0.3:  # a field of the central directory, which says sizes, offsets, methods and flags
            at = whole.rfind(b"PK\1\2") + 4 + draw.randrange(42)
            whole[at : at + 4] = draw.choice((b"\xff" * 4, b"\0" * 4, draw.randbytes(4)))
        return bytes(whole)

    def tar_changed(self, data: bytes) -> bytes:
        """Return a new tar of the old one's members and one more, compressed in another way, or cut."""
        draw, made = self.random, io.BytesIO()
        kind = draw.choice(("w", "w:gz", "w:bz2", "w:xz"))
        with tarfile.open(fileobj=io.BytesIO(data)) as old, tarfile.open(fileobj=made, mode=kind) as new:  # type: ignore[call-overload]
            for info in old.getmembers()[:300]:
                new.addfile(info, old.extractfile(info) if info.isreg() else None)
            name, text = self.member()
            info = tarfile.TarInfo(name.replace("\0", "") or "x")
            info.size, info.mtime = len(text), draw.choice((0, -5, 1 << 40))
            info.type = draw.choice(
                (tarfile.REGTYPE, tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE)
            )
            info.linkname = draw.choice(ODD_NAMES)[:90]
            info.size = len(text) if info.isreg() else 0
            new.addfile(info, io.BytesIO(text))
        return made.getvalue()


def _holders(tree: Any) -> Iterator[Any]:
    todo = [tree]
    while todo:
        one = todo.pop()
        if isinstance(one, (dict, list)) and one:
            yield one
            todo += one.values() if isinstance(one, dict) else one


def _keys(holder: Any) -> list[Any]:
    return list(holder) if isinstance(holder, dict) else list(range(len(holder)))


# -- how inputs are read -------------------------------------------------------------------------------------------


def read_hand_in(folder: Path, one: Input, course: Course) -> str:
    """Read an input as a batch reads what one author handed in; return the problems that it reports."""
    path = _written(folder, one)
    handed = Handed("ada", ("ada",), (Part(path, PurePosixPath(path.name)),))
    submissions, unmatched = collect.collect(handed, course.exercises, course.exercises, with_earlier_attempts=True)
    return f"{[own.problem for one in submissions for own in one.exercises.values()]} {[row.why for row in unmatched]}"


def read_download(folder: Path, one: Input, course: Course) -> str:
    """Read an input as a batch reads a class: a zip, or a folder in which each author has a copy of the same file."""
    collect.CPU_CLASS_S = CLASS_CPU_S
    path = _written(folder, one)
    if path.suffix != ".zip":
        whole, kind = folder / "class", one.name.partition("-")[0]
        for author in ("ada", "grace"):
            (whole / author).mkdir(parents=True)
            (whole / author / "total.py").write_text("def total(x):\n    return x.sum()\n")
        shutil.copy(path, whole / kind)
        shutil.copy(path, whole.with_name("class.csv"))
        path = whole
    with collect.open_intake(path, course.exercises) as intake:
        told = [collect.collect(handed, course.exercises, course.exercises)[1] for handed in intake.handed[:3]]
    why = [row.why for rows in (intake.unmatched, *told) for row in rows]
    return f"{intake.layout} {intake.notes} {why}"


def read_text(folder: Path, one: Input, course: Course) -> str:
    """Read an input as a diagnosis, a class page and `grade similar` read a file; return in words what they found."""
    names, tokens = collect.names_in({"total.py": one.data}), collect.tokens_in(one.data)
    return f"{len(names)} {tokens is None} {collect.anonymous_code(one.data, ('Ada',), ())[:100]}"


def read_table(folder: Path, one: Input, course: Course) -> str:
    """Read an input as a roster, as overrides, and as a list of repositories; return what each reader said."""
    path, said = _written(folder, Input(OVERRIDES, one.data)), list[str]()
    readers: tuple[Callable[[], object], ...] = (
        lambda: len(people_in(path, {"12": "Ada Lovelace"}, "canvas").persons),
        lambda: len(people_in(path, {}, "moodle").persons),
        lambda: read_overrides(folder / OVERRIDES, course),
        lambda: len(read_class(path, "https://github.com")),
    )
    for read in readers:
        try:
            said.append(str(read()))
        except GraderError as error:
            said.append(str(error))
    return " ".join(said)


def read_a_report(folder: Path, one: Input, course: Course) -> str:
    """Read an input as `--like` and `grade report` read a report."""
    path = _written(folder, one)
    return f"{read_report(path).author} {read_like(path)[1]}"


def read_journal(folder: Path, one: Input, course: Course) -> str:
    """Read an input as `grade report` reads the journal in a folder of results."""
    (folder / "journal.sqlite").write_bytes(one.data)
    (folder / "seed").write_bytes(one.data[:80])
    with open_journal(folder, new=False) as journal:
        for noted in journal.submissions():
            journal.saved_results_of(noted.author)
            journal.current(noted.author)
        journal.names(), journal.upload_prefixes(), journal.handin(), journal.results_not_counted()
    load_or_make_secret(folder / "seed")
    return "read"


def read_a_yaml(folder: Path, one: Input, course: Course) -> str:
    """Read an input as a file of a course."""
    path = _written(folder, one)
    try:
        load_course(path.parent) if path.name == "course.yaml" else read_file(path, path.name, ExerciseFile)
    except GraderError as error:
        return str(error)
    return "read"


def _written(folder: Path, one: Input) -> Path:
    path = folder / (re.sub(r"[\0/]", "_", one.name) or "x")
    path.write_bytes(one.data)
    return path


READERS: dict[str, Callable[[Path, Input, Course], str]] = {
    "hand_in": read_hand_in,
    "download": read_download,
    "text": read_text,
    "table": read_table,
    "report": read_a_report,
    "journal": read_journal,
    "yaml": read_a_yaml,
}

# -- what is changed -----------------------------------------------------------------------------------------------

_RIGHT = b"import torch\n\n\ndef total(x):\n    return x.sum()\n"
_CELLS = (
    ("markdown", "# Week 1"),
    ("code", "%matplotlib inline\nimport torch\nhelper = 1"),
    ("code", "# exercise: total\ndef total(x):\n    return x.sum() * helper"),
    ("code", "!pip install x\ntotal(torch.ones(2))"),
)


def _python(course: Course) -> Iterator[Input]:
    yield Input("total.py", _RIGHT)
    yield from (Input(f"{item.id}.py", item.starter.read_bytes()) for item in course.exercises)
    yield from (Input("total.py", text.encode("utf-8", "surrogatepass")) for text in ODD_TEXTS)


def _notebooks() -> Iterator[Input]:
    cells = [
        {"cell_type": kind, "source": text, "metadata": {}, "id": str(at), "outputs": [], "execution_count": at}
        for at, (kind, text) in enumerate(_CELLS)
    ]
    yield Input(
        "total.ipynb", json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()
    )
    yield Input("total.ipynb", json.dumps({"worksheets": [{"cells": cells}], "metadata": {}, "nbformat": 3}).encode())


def _zip_of(files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return made.getvalue()


def _archives() -> Iterator[Input]:
    files = {
        "week1/total.py": _RIGHT,
        "week1/double.py": b"def double(x):\n    return 2 * x\n",
        "week1/notes.txt": b"hi",
    }
    yield Input("answer.zip", _zip_of(files))
    yield Input("answer.zip", _zip_of({"inner.zip": _zip_of(files), "total.ipynb": next(_notebooks()).data}))
    for suffix, kind in (("tar", "w"), ("tar.gz", "w:gz"), ("tar.xz", "w:xz"), ("tar.bz2", "w:bz2")):
        made = io.BytesIO()
        with tarfile.open(fileobj=made, mode=kind) as archive:  # type: ignore[call-overload]
            for name, data in files.items():
                info = tarfile.TarInfo(name)
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
        yield Input(f"answer.{suffix}", made.getvalue())


def _hand_ins(course: Course) -> Iterator[Input]:
    yield from _python(course)
    yield from _notebooks()
    yield from _archives()


def _downloads(course: Course) -> Iterator[Input]:
    zipped = next(_archives()).data
    yield Input("class.zip", _zip_of({"ada_1_2_total.py": _RIGHT, "grace_LATE_3_4_total.py": _RIGHT}))
    yield Input("class.zip", _zip_of({f"Ada L_{n}_assignsubmission_file_/total.py": _RIGHT for n in (7, 8)}))
    people = (
        b"submission_1:\n  :submitters:\n  - :name: Ada\n    :email: ada@x.org\n  :created_at: 2026-01-01 10:00:00 Z\n"
    )
    yield Input("class.zip", _zip_of({"submission_metadata.yml": people, "submission_1/total.py": _RIGHT}))
    yield Input(
        "class.zip", _zip_of({"ada/total.py": _RIGHT, "grace/week1.zip": zipped, "ada/timestamp.txt": b"2026-01-01"})
    )
    yield Input("submission_metadata.yml-", people)
    yield Input("scores.csv-", b"student,tag,score\nada,v1,3\ngrace,v1,4\n")
    yield Input("timestamp.txt-", b"2026-01-01 10:00:00 UTC")


def _tables(course: Course) -> Iterator[Input]:
    yield Input("canvas.csv", (ROOT / "examples" / "canvas.csv").read_bytes())
    head = "Identifier,Full name,Email address,Status,Grade,Maximum grade,Grade can be changed\n"
    yield Input("moodle.csv", (head + "Participant 7,Ada L,ada@x.org,Submitted,,10,Yes\n").encode())
    yield Input("roster.csv", b"name,id,group\nAda Lovelace,12,red\nGrace Hopper,13,blue\n")
    yield Input("overrides.csv", b"author,exercise,check,points,why\nada,total,,1.5,late bus\n")
    yield Input("gradebook.csv", _graded()["gradebook.csv"])
    yield Input("class.csv", b"owner/one\nhttps://github.com/owner/two\n")


@functools.cache
def _graded() -> dict[str, bytes]:
    """Return what `grade` and `grade batch` write about two authors of the pretend course, by path."""
    with tempfile.TemporaryDirectory() as folder:
        for author, text in (("ada", _RIGHT), ("grace", b"def total(x):\n    return 0\n")):
            Path(folder, "class", author).mkdir(parents=True)
            Path(folder, "class", author, "total.py").write_bytes(text)
        grade = [sys.executable, "-m", "grader"]
        for words in (
            ["batch", f"{folder}/class", "--out", f"{folder}/out", "--staff"],
            ["total", "--submission", f"{folder}/class/grace", "--seed", "7", "--json", f"{folder}/out/like.json"],
        ):
            course = ROOT / "tests" / "courses" / "tiny"
            command = [*grade, *words, "--confinement", "none"]
            subprocess.run(command, cwd=course, stdout=subprocess.DEVNULL, check=words[0] == "batch")
        names = ("like.json", "reports/ada.json", "reports/grace.json", "journal.sqlite", "gradebook.csv")
        return {name: Path(folder, "out", name).read_bytes() for name in names}


def _reports(course: Course) -> Iterator[Input]:
    yield from (Input("report.json", data) for name, data in _graded().items() if name.endswith(".json"))


def _journals(course: Course) -> Iterator[Input]:
    yield Input("journal.sqlite", _graded()["journal.sqlite"])


def _yaml(course: Course) -> Iterator[Input]:
    yield Input("course.yaml", (course.root / "course.yaml").read_bytes())
    yield from (
        Input("exercise.yaml", path.read_bytes()) for path in sorted(course.root.glob("exercises/*/*/exercise.yaml"))
    )


SEEDS: dict[str, Callable[[Course], Iterator[Input]]] = {
    "hand_in": _hand_ins,
    "download": _downloads,
    "text": _python,
    "table": _tables,
    "report": _reports,
    "journal": _journals,
    "yaml": _yaml,
}


def main() -> None:
    """Change and read until the time is over, then say what was done; the exit status is 1 if there were findings."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="for inputs with which something is wrong")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--most-mb", type=int, default=2048, help="how large this process may become")
    parser.add_argument("--try", dest="kept", type=Path, help="read one input that was kept, and show what happens")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    fuzzer = Fuzzer(options.folder, options.seed, options.most_mb)
    if options.kept is not None:
        _, kind, name = options.kept.name.split("-", 2)
        print(fuzzer.read(kind, Input(name, options.kept.read_bytes())))
        return
    print(f"seed {options.seed}, {options.minutes} minutes, findings go to {options.folder}", flush=True)
    end, told = time.monotonic() + 60 * options.minutes, time.monotonic()
    while time.monotonic() < end:
        fuzzer.once()
        if time.monotonic() - told > 60:
            told = time.monotonic()
            print(_summary(fuzzer), flush=True)
    print(_summary(fuzzer))
    sys.exit(1 if fuzzer.places else 0)


def _summary(fuzzer: Fuzzer) -> str:
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    longest = ", ".join(
        f"{kind} {count:,} (longest {fuzzer.longest[kind] / 1000:.1f} s)" for kind, count in fuzzer.rounds.items()
    )
    return (
        f"{len(fuzzer.places)} findings in {fuzzer.rounds.total():,} readings: {longest}; {len(fuzzer.seen):,} forms "
        f"of answers; this process had at most {used} MiB; exceptions in the process that reads: {dict(fuzzer.inside)}"
    )


if __name__ == "__main__":
    main()
