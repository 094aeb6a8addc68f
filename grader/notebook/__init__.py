"""Exercises in a notebook: `from grader.notebook import check`, then `check("predict_strides")` in a cell.

The kernel is the student's process, so nothing of a course is read in it: it sends the source of its cells to a process
of ours, which grades them as any submission, and shows the answer.

kernel   in the student's process: which cells ran, what is asked, what is shown; the standard library only
cells    cells → the text of an exercise module; what was left out, and which line came from which cell
grading  in a process of ours: a request → a report as HTML and as text; a lane stays open for the next request
"""

from grader.notebook.kernel import check

__all__ = ["check"]
