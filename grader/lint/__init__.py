"""Reads check files as text: reports code without effect on student code, and code that is never graded.

Student code runs in another process. A call takes values there and brings values back; a seed, a mode, a patch or a
listener around the call stays in the check process. Every finding follows from the syntax tree alone. Code that the
tree cannot decide passes: what such a check does at run time raises an error that names the probe.

source   a check file as a syntax tree, and a finding in it
graded   checks and tests that are never run, or not as their author means
process  what changes or listens to the check process alone
scope    what the names of one function certainly are: student code, its objects, its results
calls    what is around a call of student code or handed to it, and does not cross with it
"""

from __future__ import annotations

import ast

from grader.lint.calls import around_calls
from grader.lint.graded import not_graded
from grader.lint.process import process_wide
from grader.lint.source import Finding, Source

__all__ = ["Finding", "findings"]


def findings(text: str) -> list[Finding]:
    """Every finding of a check file, by line; none for a file that is not valid Python, which collecting reports."""
    try:
        source = Source(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError):
        return []
    return sorted({*not_graded(source), *process_wide(source), *around_calls(source)})
