"""No process but the one that reads parses, walks or decodes what was handed in: read off the syntax tree."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

import pytest
from support import RIGHT, written

import grader
from grader.intake.collect import ReaderProcess, Request, collect
from grader.intake.contents import Handed, Part
from grader.model import Course

pytestmark = pytest.mark.lane

PACKAGE = Path(grader.__file__).parent

HOST = (
    *("course", "intake", "runner", "grading", "report", "cluster"),
    *("batch", "ci", "release", "author", "student", "cli"),
)
"""The packages of the process that grades."""

READING = {
    *("reading", "choice", "contents", "archive", "layouts", "kinds", "match", "cells", "needed", "notebook", "code"),
}
"""The modules of `intake` that the process that reads has; all others only start it."""

PARSE = {
    *("ast", "codeop", "inspect", "linecache", "runpy", "symtable", "token", "tokenize"),
    *("bz2", "gzip", "lzma", "tarfile", "zipfile", "zipimport", "zlib"),
    *("configparser", "copydetect", "csv", "email", "html.parser", "json", "marshal", "mimetypes"),
    *("pickle", "plistlib", "pydantic", "shelve", "sqlite3", "tomllib", "xml", "yaml", "IPython"),
    "packaging.requirements",
}
"""Modules of which every name that is used must be in the table: they parse a text, or open an archive."""

HARMLESS = {
    *("csv.writer", "json.dump", "json.dumps", "pickle.dumps", "symtable.SymbolTable", "token.tok_name"),
    *("yaml.safe_dump", "yaml.dump", "yaml.Node", "yaml.MappingNode", "yaml.ScalarNode", "yaml.SequenceNode"),
    *("zlib.error", "lzma.LZMAError", "tokenize.TokenError", "copydetect.CodeFingerprint", "copydetect.compare_files"),
    *("pydantic.Field", "pydantic.AfterValidator", "sqlite3.Row", "sqlite3.Connection"),
    *("sqlite3.Error", "sqlite3.OperationalError"),
}
"""Names of these modules that neither parse nor open: they write, compare tokens, or are types."""

READERS = {
    *("compile", "eval", "exec", "codecs.open", "codecs.decode", "codecs.getdecoder", "codecs.lookup"),
    *("os.walk", "os.scandir", "os.fwalk", "os.listdir", "glob.glob", "glob.iglob", "fnmatch.filter"),
    *("shutil.copytree", "shutil.move", "shutil.make_archive", "shutil.unpack_archive", "shutil.rmtree"),
    *("tempfile.TemporaryDirectory", "subprocess.run", "subprocess.Popen", "subprocess.check_output"),
    *("subprocess.call", "subprocess.check_call", "os.system", "os.popen", "importlib.import_module", "__import__"),
}
"""Functions that parse a text, list a folder, remove one level by level, or start a program that may do all of it."""

METHODS = {"rglob", "glob", "iterdir", "walk"}
"""The same of a path's."""

ALLOWED = {
    "course": "the course; of a student's text, tokens alone, behind errors",
    "release": "the course, and the copy that was just made of it",
    "author": "the course, which its author wrote",
    "intake/collect.py": "the top of a student's own folder, for that student",
    "grading/behaviour.py": "mistakes that the course has sealed",
    "grading/diagnosis.py": "digests that our own processes made",
    "grading/store.py": "folders of the course and of our package",
    "report/csv_table.py": "tables of staff's",
    "batch/journal.py": "rows and files of our own",
    "batch/run.py": "the options of an earlier run, which our journal has",
    "batch/results_folder.py": "reports that a batch has written",
    "batch/feedback.py": "writes a zip",
    "batch/similar.py": "places in a text, which the process that reads has found",
    "batch/term.py": "tables of staff's",
    "ci/clones.py": "an empty folder, and reports of CI jobs by their names",
    "ci/files.py": "templates of our package",
    "ci/job.py": "the event that the platform describes",
    "report/read.py": "a report, whose size is limited",
    "report/schema.py": "types of a report, of which `report/read.py` reads one",
    "student/side_effects.py": "a student's own file, for that student",
    "student/advice.py": "a student's own file, for that student",
    "student/counted.py": "the course's known answers",
    "student/lines_to_try.py": "lines of the course's checks",
    "student/notebook.py": "messages of our own process",
    "student/folder.py": "the record of a copy, and the copy itself, for its owner",
    "student/pytest_items.py": "the course's check files",
    "student/games": "a student's own answer, for that student",
    "cli/games.py": "what a student types",
    "cli/__init__.py": "our own modules",
    "cli/ready.py": "our own modules, and the threads of its process",
    "cluster/cluster.py": "a folder with the course",
    "grading/packed_plan.py": "a run of ours, as another machine of the cluster gets it",
    "report/console.py": "names of packages that we need",
    "ci/templates": "a job of the platform's",
    "runner": "processes of ours, and folders that these try to reach",
    "student/watch.py": "a module of Python's for Windows",
}
"""Who else calls one of them, a package or a module, and on what."""

RECORDS = {
    *("Handed", "Part", "Unmatched", "NOTE_KINDS", "Intake"),
    *(
        "collect",
        "collect_one",
        "read_submission",
        "open_intake",
        "names_in",
        "functions_reached_in",
        "functions_used_in",
        "anonymous_code",
        "tokens_in",
    ),
    "module_place",  # a search line by line, of a text that was read
    "move_to_rostered_authors",  # sorts records
    "functions_used",  # of the course's references
    "names_in_sources",  # of the course's known answers
    "starter_names",  # of the course's starters
    "python_of",  # of an author's own notebooks, which become a course
}
"""What others import of `intake`: records, and functions that ask the process that reads."""


def files() -> Iterator[tuple[str, ast.Module]]:
    """The modules of the host, by their paths in the package."""
    for room in HOST:
        for path in sorted((PACKAGE / room).rglob("*.py")):
            yield path.relative_to(PACKAGE).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def is_reading(name: str) -> bool:
    return name.startswith("intake/") and Path(name).stem in READING


def test_one_process_parses_what_was_handed_in() -> None:
    """Each use of a parser or of a walk in another process is in the table, with what it reads."""
    found = {(name, used) for name, tree in files() if not is_reading(name) for used in readers_in(tree)}
    places = {pair: {pair[0], *map(str, Path(pair[0]).parents)} for pair in found}
    assert sorted(pair for pair in found if not places[pair] & ALLOWED.keys()) == []


def readers_in(tree: ast.Module) -> Iterator[str]:
    """Each name in a module that stands for something that reads: called, given to another function, or given a name.

    Whatever is used of a module that parses counts, by `getattr` or as a whole.
    """
    known = imported(tree)
    inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            yield f"all of {node.module}"
        elif isinstance(node, ast.Name | ast.Attribute) and id(node) not in inner:
            name = name_of(node, known)
            is_method = isinstance(node, ast.Attribute) and node.attr in METHODS
            is_imported = ast.unparse(node).split(".")[0] in known
            if name in READERS or is_method or (is_imported and is_of_parser(name)):
                yield name


def is_of_parser(name: str) -> bool:
    """Whether a name is of a parser's module, and neither a type of syntax nor in the table of harmless ones."""
    module, _, last = name.rpartition(".")
    is_type = module == "ast" and isinstance(getattr(ast, last, None), type)
    if "(" in name:  # an attribute of what a call gives: the call counts by itself
        return False
    return name not in HARMLESS and not is_type and any(f"{name}.".startswith(f"{each}.") for each in PARSE)


def name_of(node: ast.expr, known: Mapping[str, str]) -> str:
    """The name that its module gives it: `ast.parse`, `compile`, or what is written there."""
    whole = ast.unparse(node)
    first, *rest = whole.split(".")
    return ".".join([known.get(first, first), *rest])


@functools.cache
def imported(tree: ast.Module) -> Mapping[str, str]:
    """What names of a module stand for, by its imports."""
    known: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            known |= {
                one.asname or one.name.split(".")[0]: one.name if one.asname else one.name.split(".")[0]
                for one in node.names
            }
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            known |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
    return known


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from ast import parse as p\np(x)", "ast.parse"),
        ("import json as j\nj.loads(x)", "json.loads"),
        ("import os.path\nos.walk(x)", "os.walk"),
        ("a.b.rglob(x)", "a.b.rglob"),
        ("read = a.rglob", "a.rglob"),
        ("import ast\nlist(map(ast.parse, x))", "ast.parse"),
        ("import ast\ndo = getattr(ast, 'par' + 'se')", "ast"),
        ("from csv import *", "all of csv"),
        ("import tarfile\ntarfile.TarFile.gzopen(x)", "tarfile.TarFile.gzopen"),
        ("import xml.dom.minidom\nxml.dom.minidom.parse(x)", "xml.dom.minidom.parse"),
        ("from importlib import import_module\nimport_module('json')", "importlib.import_module"),
        ("import shutil\nshutil.rmtree(x)", "shutil.rmtree"),
    ],
)
def test_a_parser_has_no_other_name(text: str, found: str) -> None:
    """A function under another name, imported by itself, handed on or looked up is found as well."""
    assert list(readers_in(ast.parse(text))) == [found]


def test_no_codec_of_a_stranger() -> None:
    """Another process decodes with a codec that is written there, or with one of two for tables of staff's."""
    found = [
        f"{name}: {ast.unparse(node)}"
        for name, tree in files()
        if not is_reading(name)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "decode"
        if node.args and not isinstance(node.args[0], ast.Constant)
    ]
    assert [text for text in found if not text.startswith("report/csv_table.py: data.decode(encoding)")] == []


def test_others_ask() -> None:
    """No other package imports what parses, walks or decodes, but records, and functions that ask the process."""
    found = {
        (name, alias.name)
        for name, tree in files()
        if not name.startswith("intake/") and name != "student/notebook.py"  # cells of a student's own kernel
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("grader.intake")
        for alias in node.names
    }
    assert sorted(pair for pair in found if pair[1] not in RECORDS) == []


def test_a_cell_that_ipython_cannot_split(tmp_path: Path, tiny: Course) -> None:
    """A magic beside an indent that fits nothing: its author reads what is wrong with the text, as of any other."""
    (tmp_path / "total.py").write_text("%load x\nif x:\n        a\n    b\n")
    handed = Handed("ada", ("ada",), (Part(tmp_path / "total.py", PurePosixPath("total.py")),))
    (found,), _ = collect(handed, tiny.exercises, tiny.exercises)
    assert "reading it failed" not in found.exercises["total"].problem


@pytest.mark.parametrize("times", [1, 2])
def test_a_reader_is_killed(tiny: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """Once, as the kernel does where memory is short: another one reads. Twice: that costs its author a row."""
    handed = Handed("ada", ("ada",), (Part(written(tmp_path / "ada", {"double.py": RIGHT})),))
    whole = collect(handed, tiny.exercises, tiny.exercises)
    answer, left = ReaderProcess._send_and_receive, [times]

    def killed(reader: ReaderProcess, request: Request) -> bytes:
        if left[0]:
            left[0] -= 1
            reader._process.kill()
        return answer(reader, request)

    monkeypatch.setattr(ReaderProcess, "_send_and_receive", killed)
    (found, *_), rows = collect(handed, tiny.exercises, tiny.exercises)
    assert found.exercises["double"].files == whole[0][0].exercises["double"].files
    assert len(rows) == times - 1
