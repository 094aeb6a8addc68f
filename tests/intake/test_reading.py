"""No process but the one that reads parses, walks or decodes what was handed in: read off the syntax tree."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

import grader
from grader.intake.collect import collect
from grader.intake.contents import Handed, Part
from grader.model import Course

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

READERS = {
    *("ast.parse", "ast.literal_eval", "compile", "symtable.symtable", "eval"),
    *("tokenize.generate_tokens", "tokenize.tokenize", "tokenize.detect_encoding", "tokenize.open"),
    *("zipfile.ZipFile", "zipfile.Path", "tarfile.open", "tarfile.TarFile", "shutil.unpack_archive", "lzma.open"),
    *("zipfile.is_zipfile", "tarfile.is_tarfile", "gzip.open", "bz2.open", "zlib.decompress", "gzip.decompress"),
    *("json.load", "json.loads", "json.JSONDecoder", "csv.reader", "csv.DictReader", "pickle.load", "pickle.loads"),
    *(f"yaml.{name}" for name in ("load", "load_all", "safe_load", "safe_load_all", "scan", "parse", "compose")),
    *("marshal.loads", "tomllib.load", "tomllib.loads", "configparser.ConfigParser", "html.parser.HTMLParser"),
    *("inspect.getsource", "linecache.getline", "linecache.getlines", "runpy.run_path", "exec", "codecs.open"),
    *("xml.etree.ElementTree.parse", "xml.etree.ElementTree.fromstring", "sqlite3.connect", "mimetypes.guess_type"),
    *("os.walk", "os.scandir", "os.fwalk", "os.listdir", "shutil.copytree", "shutil.move", "shutil.make_archive"),
    *("glob.glob", "glob.iglob", "rglob", "glob", "iterdir", "walk"),
}
"""Functions that parse a text, open an archive, or list a folder; the last ones are methods of a path."""

ALLOWED = {
    "course": "the course; of a student's text, tokens alone, behind errors",
    "release": "the course, and the copy that was just made of it",
    "author": "the course, which its author wrote",
    "intake/collect.py": "the top of a student's own folder, for that student",
    "grading/behaviour.py": "mistakes that the course has sealed",
    "grading/store.py": "folders of the course and of our package",
    "runner/warm.py": "messages of our own processes, the folder of their sockets, and our own package",
    "report/people.py": "tables of staff's",
    "batch/journal.py": "rows and files of our own",
    "batch/pages.py": "writes a zip",
    "batch/term.py": "tables of staff's",
    "ci/clones.py": "an empty folder, and reports of CI jobs by their names",
    "ci/files.py": "templates of our package",
    "ci/job.py": "the event that the platform describes",
    "report/schema.py": "a report, whose size is limited",
    "student/pages.py": "the course's known answers",
    "student/own.py": "lines of the course's checks",
    "student/notebook.py": "messages of our own process",
    "student/folder.py": "the record of a copy, and the copy itself, for its owner",
    "student/pytest_items.py": "the course's check files",
    "student/games": "a student's own answer, for that student",
    "cli/student.py": "what a student types",
}
"""Who else calls one of them, a package or a module, and on what."""

RECORDS = {
    *("Handed", "Part", "Unmatched", "NOTE_KINDS", "Intake"),
    *("collect", "collect_one", "read_submission", "taken_in", "names_in", "anonymous_code", "tokens_in"),
    "place_in",  # a search line by line, of a text that was read
    "by_roster",  # sorts records
    "names_used",  # of the course's known answers
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
    """Each call of a parser or of a walk in another process is in the table, with what it reads."""
    calls = {
        (name, name_of(node.func, imported(tree)))
        for name, tree in files()
        if not is_reading(name)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
    }
    found = {(name, called) for name, called in calls if called in READERS}
    places = {pair: {pair[0], *map(str, Path(pair[0]).parents)} for pair in found}
    assert sorted(pair for pair in found if not places[pair] & ALLOWED.keys()) == []


def name_of(function: ast.expr, known: Mapping[str, str]) -> str:
    """What is called, under the name that its module gives it: `ast.parse`, `compile`, or `rglob` of any path."""
    match function:
        case ast.Attribute(value=ast.Name(id=module), attr=name) if module in known:
            return f"{known[module]}.{name}"
        case ast.Attribute(attr="rglob" | "glob" | "iterdir" | "walk" as name):
            return name
        case ast.Attribute() if "." in (whole := ast.unparse(function)):
            return whole
        case ast.Name(id=name):
            return known.get(name, name)
    return ""


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


def test_a_parser_has_no_other_name() -> None:
    """A function under another name, or imported by itself, is found as well."""
    tree = ast.parse(
        "from ast import parse\nimport json as j\nimport os.path\nparse(x)\nj.loads(x)\nos.walk(x)\na.b.rglob(x)"
    )
    calls = [name_of(node.func, imported(tree)) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    assert set(calls) == {"ast.parse", "json.loads", "os.walk", "rglob"}


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
    assert [text for text in found if not text.startswith("report/people.py: data.decode(encoding)")] == []


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
