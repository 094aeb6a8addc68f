"""A master notebook of otter-grader, or a source notebook of nbgrader, as a solution and a plain pytest file.

Which of the two a notebook is, its own marks say: nbgrader writes them into the metadata of cells, otter into raw cells
that begin with `# BEGIN QUESTION` and the like. Nothing of it is run.
"""

from __future__ import annotations

import json

from grader.author.port.assignment import Assignment
from grader.author.port.nbgrader import read_nbgrader
from grader.author.port.otter import otter_mark, read_otter
from grader.model.errors import CourseError


def assignment_of(text: str) -> Assignment | None:
    """Return the assignment in a notebook; None if the text is not JSON, and so not a notebook.

    The notebook is one of otter-grader or nbgrader.

    Args:
        text: the text of the file.

    Raises:
        CourseError: it is a notebook of neither kind, is damaged, has an old format, or has no tests.
    """
    if not text.lstrip("\ufeff \t\r\n").startswith("{"):
        return None
    try:
        whole = json.loads(text)
        cells = whole["cells"]
        rows = [(cell["cell_type"], "".join(cell["source"]), cell.get("metadata", {}), cell) for cell in cells]
    except ValueError as error:
        raise CourseError(f"the notebook is not valid JSON ({error}); save it again in Jupyter") from None
    except (TypeError, KeyError):
        raise CourseError(
            "the notebook has no cells where its format 4 has them; convert it:  jupyter nbconvert --to notebook FILE"
        ) from None
    language = str(whole.get("metadata", {}).get("kernelspec", {}).get("language", "python"))
    if language.lower() != "python":
        raise CourseError(f"the notebook is written in {language}: only Python is graded here")
    if any("nbgrader" in metadata for _, _, metadata, _ in rows):
        made = read_nbgrader(rows)
    elif any(kind != "code" and otter_mark(source) for kind, source, _, _ in rows):
        made = read_otter(rows)
    else:
        raise CourseError(
            "the notebook has no marks of nbgrader or otter-grader: take the source notebook of nbgrader, or the "
            "master notebook of otter, and not what students get"
        )
    if not made.tests:
        by_hand = ["a person grades the rest: write an exercise with `by: staff`"] if made.by_hand else []
        raise CourseError(
            "; ".join([f"the notebook of {made.kind} has no cells with tests", *made.autotests, *by_hand])
        )
    if names := made.unsolved_names():
        raise CourseError(
            f"no solution in the notebook binds {', '.join(names)}, which its tests use: write it into a cell of the "
            f"solution, marked as {made.kind} has it"
        )
    made.drop_tests_that_pass_always()
    made.move_imports_of_figures()
    made.notes = [
        *made.not_shown_sentences(),
        *made.worthless_sentences(),
        *made.notes,
        *made.by_hand_sentences(),
        *made.autotests,
        *made.later_change_sentences(),
        *made.given_change_sentences(),
        *made.left_out_words_sentences(),
    ]
    return made
