"""Reads check files as text: reports code without effect on student code, and code that is never graded.

Student code runs in another process. A call takes values there and brings values back; a seed, a mode, a patch or a
listener around the call stays in the check process. Every finding follows from the syntax tree alone. Code that the
tree cannot decide passes: what such a check does at run time raises an error that names the probe.

scope       a check file as a syntax tree, and what the names of its functions certainly are; a finding
statements  checks that never run, or not as their author means; what changes or hears the check process alone
calls       what is around a call of student code or handed to it, and does not cross with it
"""

from __future__ import annotations

import ast

from grader.lint.calls import around_calls
from grader.lint.scope import Finding, Source
from grader.lint.statements import not_graded, process_wide

__all__ = ["Finding", "findings"]


def findings(text: str) -> list[Finding]:
    """Every finding of a check file, by line; none for a file that is not valid Python, which collecting reports."""
    try:
        source = Source(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError):
        return []
    return sorted({*not_graded(source), *process_wide(source), *around_calls(source)})
