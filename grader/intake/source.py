"""What can be said of the text of a file before it runs: whether it is Python, how it is saved, where things stand.

Nothing is run. `compile` as it stands is not for strangers' texts: it copies a `finally` block for each way out of its
`try`, so that twenty of them inside one another take minutes and gigabytes.
"""

from __future__ import annotations

import ast
import codecs
import io
import re
import tokenize
import warnings

from grader.model import Place
from grader.model.public import carets

_NAMED = re.compile(r"(?:async +)?(?:def|class) +(\w+)")
_LARGEST = 1 << 18
"""What is longer counts as code, and a worker finds out."""
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_SEEN = 400
_DECLARED = re.compile(rb"(?:[^\n]*\n)?[ \t\f]*#[^\n]*coding[:=]")


class _WithoutFinally(ast.NodeTransformer):
    """Moves each `finally` block behind its `try`, where it is compiled once."""

    def visit_Try(self, node: ast.Try) -> ast.AST | list[ast.stmt]:
        """One `try` statement, in which others may be."""
        self.generic_visit(node)
        after, node.finalbody = node.finalbody, []
        return [node, *after] if node.handlers else [*node.body, *after]

    def visit_TryStar(self, node: ast.TryStar) -> ast.AST | list[ast.stmt]:
        """The same with `except*`."""
        self.generic_visit(node)
        after, node.finalbody = node.finalbody, []
        return [node, *after]


def syntax_error(source: bytes | str) -> SyntaxError | None:
    """Why a text is not Python; None if it is, or if the reason is for a worker to find out."""
    if len(source) > _LARGEST:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a worker shows them
        try:
            tree = compile(source, "submission", "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
            compile(_WithoutFinally().visit(tree), "submission", "exec", dont_inherit=True)
        except SyntaxError as error:
            return error
        except (ValueError, MemoryError, RecursionError, OverflowError):
            return None
    return None


def load_error(source: bytes, file_name: str, path: str) -> str:
    """Why a file cannot be compiled, in the words of a worker that would load it; or ""."""
    error = syntax_error(source)
    if error is None:
        return ""
    lines = [
        f"your {file_name} does not load: {type(error).__name__}: {error.msg}",
        f"    {path}, line {error.lineno or 1}",
    ]
    text = error.text
    if text is None and error.lineno:  # it was not the parser that stumbled
        text = next(iter(source.decode("utf-8", "replace").splitlines()[error.lineno - 1 :]), "")
    if text and text.strip():
        lines.append(f"        {text.strip()}")
        lines += carets(text.rstrip("\n"), error.offset or 0, error.end_offset or 0)
    return "\n".join(lines)


def place_in(source: bytes, path: str) -> Place:
    """Where a module has its functions and classes."""
    # With a search and not with a parser: a file that is not Python has a place as well.
    lines = source.decode("utf-8", "replace").splitlines()
    matches = ((number, _NAMED.match(line)) for number, line in enumerate(lines, 1))
    return Place(path, len(lines), {match[1]: number for number, match in matches if match})


def cannot_be_text(source: bytes) -> str:
    """Why a file cannot be read as Python's text at all; or ""."""
    start = source[:_SEEN]
    wide = len(start) > 3 and (not any(start[1::2]) or not any(start[::2])) and any(start)
    if start.startswith(_WIDE) or wide:
        return "it is saved as UTF-16; save it as UTF-8"
    return ""


def encoding_note(source: bytes, file_name: str) -> str:
    """What plain Python would say of the way in which a file is saved; "" if nothing."""
    try:
        if _DECLARED.match(source):
            encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
        else:
            encoding = "utf-8"
        source.decode(encoding)
    except UnicodeDecodeError as error:
        line = source.count(b"\n", 0, error.start) + 1
        what = f"{file_name} is not saved as {error.encoding.upper()} (line {line})"
        return f"{what}, so plain Python refuses it; save it as UTF-8"
    except SyntaxError as error:
        return f"plain Python refuses {file_name}: {error.msg}; save it as UTF-8"
    return ""
