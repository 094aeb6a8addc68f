"""What a file is: by its content, and not by how its name ends.

Browsers, Jupyter and mail programs save files under endings of their own, and some files are not what their author
meant to hand in. Of those the author reads what they are, and how to get the right one.
"""

from __future__ import annotations

import ast
import io
import json
import warnings
import zipfile
from typing import Any

from grader.intake.match import why_not_text

_BEGINNINGS = (
    (b"version https://git-lfs", "a Git LFS pointer, which only names the file; run  git lfs pull  , then hand it in"),
    (b"%PDF", "a PDF; hand in the Python file itself"),
    (b"{\\rtf", "a text with formatting (RTF); copy the code into a plain text file that ends in .py"),
    (b"\xd0\xcf\x11\xe0", "a Word document; copy the code into a plain text file that ends in .py"),
    (b"\x1f\x8b", "a compressed file (gzip); unpack it, and hand in what is in it"),
    (b"Rar!", "a RAR archive; hand in a zip, or the files themselves"),
    (b"7z\xbc\xaf", "a 7z archive; hand in a zip, or the files themselves"),
    (b"\x89PNG", "a picture; hand in the code as text"),
    (b"\xff\xd8\xff", "a picture; hand in the code as text"),
    (b"\x7fELF", "a program; hand in its source text"),
)
_IN_ZIP = (
    ("word/document.xml", "a Word document; copy the code into a plain text file that ends in .py"),
    ("xl/workbook.xml", "an Excel workbook; hand in the Python file itself"),
    ("ppt/presentation.xml", "a presentation; hand in the Python file itself"),
    ("content.xml", "an OpenDocument file; copy the code into a plain text file that ends in .py"),
    ("Index/Document.iwa", "a Pages document; copy the code into a plain text file that ends in .py"),
)
_LONGEST = 1 << 20
"""Bytes of a file that is parsed here."""

_HOSTS = {b"github": "GitHub", b"gitlab": "GitLab", b"colab.research": "Colab", b"bitbucket": "Bitbucket"}


def why_not_code(data: bytes) -> str:
    """Return why a file cannot be code, and what to hand in instead; "" if it may be code.

    For example, "it is a PDF; hand in the Python file itself". Code is Python or a notebook.
    """
    for beginning, what in _BEGINNINGS:
        if data.startswith(beginning):
            return f"it is {what}"
    if data.startswith(b"PK\x03\x04"):
        return f"it is {_describe_zip(data)}"
    if why := why_not_text(data):
        return why
    text = data.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"<") and not text.startswith(b"<<<<<<< "):  # no Python begins so
        hosts = [name for word, name in _HOSTS.items() if word in text.lower()]
        of = f" of {hosts[0]}" if hosts else ""
        how = "open the file there, choose Raw or Download, and hand in what that saves"
        return f"it is a web page{of}, and not the file that it shows; {how}"
    return ""


def _describe_zip(data: bytes) -> str:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError):
        names = set()
    other = "a zip archive; give it a name that ends in .zip, or hand in the files that are in it"
    return next((what for name, what in _IN_ZIP if name in names), other)


def defines_something(data: bytes) -> bool:
    """Return whether a file is Python that defines a function or a class.

    Prose never does.
    """
    if len(data) > _LONGEST:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a worker shows them
            tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) for node in tree.body)


def is_notebook(data: bytes) -> bool:
    """Return whether a file is a notebook: JSON with cells.

    A notebook that is damaged behind its beginning counts, too.
    """
    text = data.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not text.startswith(b"{") or not (b'"cells"' in text or b'"worksheets"' in text):
        return False
    try:
        plain: Any = json.loads(text)
    except (ValueError, RecursionError):
        return b'"cell_type"' in text
    return isinstance(plain, dict) and isinstance(plain.get("cells", plain.get("worksheets")), list)
