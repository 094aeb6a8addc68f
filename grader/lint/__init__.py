"""Reads check files as text: reports code without effect on student code, and code that is never graded.

Student code runs in another process. A call takes values there and brings values back; a seed, a mode, a patch or a
listener around the call stays in the check process. Every finding follows from the syntax tree alone. Code that the
tree cannot decide passes: what such a check does at run time raises an error that names the probe.

scope  a check file as a syntax tree, and which of its expressions are student code
lines  findings: checks that never run, what changes the check process alone, and what does not cross with a call
"""

from __future__ import annotations

import ast

from grader.lint.lines import Finding, around_calls, not_graded, process_wide
from grader.lint.scope import Source

__all__ = ["Finding", "findings"]


def findings(text: str) -> list[Finding]:
    """Every finding of a check file, by line; none for a file that is not valid Python, which collecting reports."""
    try:
        source = Source(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError):
        return []
    return sorted({*not_graded(source), *process_wide(source), *around_calls(source)})
