"""What a student reads of an exercise: the cause first, consequences in one row, in 40 to 80 columns."""

from __future__ import annotations

from dataclasses import replace

import click
import pytest
from support import COURSES

from grader.course.load import load_course
from grader.model import Check, Environment, GradedCheck, GradedExercise, Mistake, Outcome, Report, Score, Verdict
from grader.model.picture import Grid, Picture
from grader.model.score import Causes
from grader.report.safe import column_count
from grader.report.terminal import exercise_lines, message_lines, summary_lines
from grader.sandbox.start_messages import WARNED

ATTRIBUTE = "your `double` raised AttributeError"
AT_7 = f"{ATTRIBUTE}: no sqare\n    double.py, line 7\n        x"
NONE = "expected the result to be a tensor, got None (is a `return` missing?)"
LATE = "your `double` did not finish in 2 seconds"
HAS_NO, MEANT = "your double.py has no", "; did you mean `B`?"


def row(
    id: str, verdict: str, cause: str = "", message: str = "", *, shown: bool = True, rule: str = "C1"
) -> GradedCheck:
    check = Check(id, "double", f"Title of {id}", rule, shown=shown)
    counters = {"ops": 3} if verdict == "passed" else {}
    outcome = Outcome(id, Verdict(verdict), message, counters=counters, cause=cause, detail="for staff")
    return GradedCheck(check, outcome, Score(50 * (verdict == "passed"), 50))


def lines(*rows: GradedCheck, width: int = 80, every: bool = False, mistakes: tuple[Mistake, ...] = ()) -> list[str]:
    exercise = load_course(COURSES / "tiny").exercises[0]
    graded = GradedExercise(exercise, "started", rows, sum((item.score for item in rows), Score(0, 0)))
    graded = replace(graded, mistakes=mistakes)
    return [click.unstyle(line) for line in exercise_lines(graded, width, every=every)]


def test_cause_comes_first() -> None:
    """A wrong kind is told before values that it makes wrong, and speed last; with --verbose each check has its row."""
    shown = lines(
        row("slow", "failed", "performance", "too slow", rule="C7"),
        row("value", "failed", "values", "wrong value", rule="C10"),
        row("kind", "failed", "kind", f"{NONE}", rule="C3"),
        row("fine", "passed", rule="C2"),
    )
    assert shown == [
        "01-1 Double it                                                    0.5 / 2 points",
        "  FAIL    C3  Title of kind                                              0 / 0.5",
        f"          {NONE}",
        "  FAIL    C10 Title of value                                             0 / 0.5",
        "  FAIL    C7  Title of slow                                              0 / 0.5",
        "  pass    1 check (C2)                                                 0.5 / 0.5",
        "  To read all messages:  grade -v double",
    ]
    shown = lines(row("fine", "passed"), row("bad", "failed", "values", "wrong value"), every=True)
    assert [line.split()[0] for line in shown[1:]] == ["pass", "3", "FAIL", "wrong"]


def test_points_that_do_not_count_are_explained() -> None:
    """Below the checks, in one sentence; the points of each check are those that count."""
    fine = row("fine", "passed", rule="C2")
    held = replace(fine, score=Score(0, 50), held_back=50)
    shown = lines(row("value", "failed", "values", "wrong value"), held, width=100)
    assert shown[0].endswith("0 / 1 points")
    assert "0 / 0.5" in shown[-2]
    assert shown[-1] == "  No points yet: 0.5 earned on other rules do not count, because no value was right."
    assert "No points yet" not in "".join(lines(row("value", "failed", "values"), fine, width=100))


def test_what_is_printed_in_full_is_a_shown_check() -> None:
    """It has the whole message and a picture, also where a hidden check met what is likelier the cause."""
    told = Causes.of(
        [
            row("value", "failed", "values", "wrong value", shown=False, rule="C1"),
            row("waits", "failed", "performance", "it waits 9 times", rule="C4"),
            row("stub", "skipped", "raised", "your `f` is not written yet", rule="C2"),
        ]
    )
    assert told.cause is not None
    assert (told.cause.check.id, [item.check.id for item in told.lost]) == ("waits", ["value"])


def test_what_ends_every_check_is_printed_under_the_first_rule() -> None:
    """An error that each call meets stands under the first rule, by a shown check; hidden ones follow wrong values."""
    told = Causes.of(
        [
            row("memory", "crashed", "raised", "your `double` raised TypeError: no dim", rule="C10"),
            row("value", "crashed", "raised", "your `double` raised TypeError: no dim", rule="C2"),
            row("hidden", "crashed", "raised", "your `double` raised TypeError", shown=False, rule="C1"),
        ]
    )
    assert told.cause is not None and told.cause.check.id == "value"
    assert {item.check.id for item in told.same} == {"memory", "hidden"}
    told = Causes.of(
        [
            row("speed", "failed", "performance", "a loop", rule="C1"),
            row("hidden", "crashed", "raised", "your `double` raised TypeError", shown=False, rule="C2"),
            row("value", "failed", "values", "wrong value", rule="C3"),
        ]
    )
    assert told.cause is not None
    assert [told.cause.check.id, *(item.check.id for item in told.lost)] == ["value", "hidden", "speed"]


def test_many_that_are_not_started_are_one_row() -> None:
    """A course of 26 is no page of zeros at each run; up to three have rows of their own."""
    exercise = load_course(COURSES / "tiny").exercises[0]
    done = GradedExercise(exercise, "done", (), Score(100, 100))
    waiting = GradedExercise(exercise, "not_started", (), Score(0, 100))
    here = Environment("", "", "", "", "", 1, None, "", None, "")
    for count, rows in ((3, 4), (4, 2)):
        report = Report("tiny", None, "somebody", "", "", (done, *[waiting] * count), here)
        table = [click.unstyle(line) for line in summary_lines(report)]
        assert len(table[1 : table.index("-" * 80, 1)]) == rows
    assert table[2].split() == ["4", "more", "exercises:", "grade", "list", "not", "started", "0", "/", "4"]


def test_what_a_starter_passes_does_not_count() -> None:
    """Checks that pass and earn nothing would be a riddle, so a line says why; not so where nothing passes."""
    exercise = load_course(COURSES / "tiny").exercises[0]
    passed, failed = row("one", "passed"), row("two", "failed", "values", "wrong")
    for rows, told in (((passed, failed), True), ((failed,), False)):
        graded = GradedExercise(exercise, "not_started", rows, Score(0, 100))
        text = " ".join(" ".join(exercise_lines(graded)).split())
        assert ("no points count yet" in text) is told


@pytest.mark.parametrize("every", [False, True])
def test_a_known_mistake_is_named_once(every: bool) -> None:
    """Below the message of what is explained, wrapped as that is."""
    rows = row("first", "failed", "values", "wrong", rule="C1"), row("second", "failed", "values", "wrong", rule="C2")
    told = lines(
        *rows,
        width=40,
        every=every,
        mistakes=(Mistake("You add up the columns: the dim goes away.", checks=("first", "second")),),
    )
    place = told.index("    This looks like: You add up the")
    assert (told[place - 1], told[place + 1]) == ("    wrong", "      columns: the dim goes away.")
    assert sum("This looks like" in line for line in told) == 1


@pytest.mark.parametrize("every", [False, True])
def test_a_mistake_of_another_function_stands_below_its_first_failure(every: bool) -> None:
    """The first failure of each function is printed in full, with the sentence that it shows."""
    made = row("first", "failed", "values", "wrong", rule="C1"), row("second", "failed", "values", "bad", rule="C2")
    rows = [replace(one, outcome=replace(one.outcome, called=(name,))) for one, name in zip(made, "fg", strict=True)]
    told = lines(*rows, every=every, mistakes=(Mistake("You add up.", ("g",), "C2", ("second",)),))
    assert told[told.index("          bad") + 1] == "          This looks like: You add up."
    assert "  To read all messages:  grade -v double" not in told
    # A check that shows a mistake of a function that it does not call itself is not the place to say so.
    told = lines(*rows, every=every, mistakes=(Mistake("You add up.", ("h",), "C3", ("first", "second")),))
    assert "  In `h` (rule C3): You add up." in told
    assert not any("This looks like" in line for line in told)
    told = lines(*rows, every=every, mistakes=(Mistake("You add up.", (), "C3", ("elsewhere",)),))
    assert "  Rule C3: You add up." in told


@pytest.mark.parametrize(
    ("first", "second", "one"),
    [
        (row("a", "error", "load", "no"), row("b", "error", "load", "no"), True),
        (row("a", "crashed", "raised", AT_7), row("b", "crashed", "raised", ATTRIBUTE, shown=False), True),
        (row("a", "crashed", "raised", AT_7), row("b", "crashed", "raised", AT_7.replace("7", "9")), False),
        (
            row("a", "crashed", "raised", f"{ATTRIBUTE}: no sqare"),
            row("b", "crashed", "raised", "your `double_` raised AttributeError", shown=False),
            False,
        ),
        (row("a", "failed", "kind", NONE.replace("a tensor", "a number")), row("b", "failed", "kind", NONE), True),
        (row("a", "failed", "values", "it is wrong"), row("b", "failed", "values", "it is wrong"), False),
        (row("a", "error", "name", f"{HAS_NO} `a`"), row("b", "error", "name", f"{HAS_NO} `b`"), True),
        (
            row("a", "error", "name", f"{HAS_NO} `a`"),
            row("b", "error", "name", f"{HAS_NO} `b`; did you mean `B`?"),
            False,
        ),
        (
            row("a", "timed_out", "raised", f"{LATE}; it was then at\n    d.py, line 1"),
            row("b", "timed_out", "raised", f"{LATE}; it is not called again"),
            True,
        ),
    ],
)
def test_checks_that_stop_at_one_cause(first: GradedCheck, second: GradedCheck, one: bool) -> None:
    """Checks that stop at the same error, kind or line are one row; another line or function is another cause."""
    told = Causes.of([first, second])
    assert (told.same, told.lost) == (((second,), ()) if one else ((), (second,)))


def test_each_mistyped_name_is_printed() -> None:
    """The name that is near to it is the remedy, and another one for each function."""
    rows = [row(name, "error", "name", f"{HAS_NO} `{name}`; did you mean `{name.upper()}`?") for name in "ab"]
    assert [line.strip() for line in lines(*rows) if "did you mean" in line] == [item.outcome.message for item in rows]


def test_what_is_written_is_printed_before_what_is_not() -> None:
    """Who has written one of two functions reads of that one; checks of the other are one row."""
    waits = row("second", "skipped", "raised", "your `b` is not written yet"), row("third", "skipped", "raised", "x")
    wrong = row("first", "failed", "values", "wrong value")
    told = Causes.of([*waits, wrong])
    assert (told.cause, told.lost, told.unwritten) == (wrong, (), waits)
    assert "  skip    2 checks need code that is not written yet (C1)" in "\n".join(lines(*waits, wrong))
    alone = Causes.of(waits)
    assert (alone.cause, alone.lost, alone.unwritten) == (waits[0], (), waits[1:])


@pytest.mark.parametrize("width", [40, 56, 80])
def test_lines_fit_the_terminal(width: int) -> None:
    """No line is wider than the terminal, whatever titles and messages are."""
    rows = (
        row("some " * 20, "failed", "values", "words " * 40 + "\nexpected  (1, 2)\ngot       (3, 4)"),
        row("\u4f60\u597d " * 30, "failed", "values", "x", shown=False),
        *(row(f"p{i}", "passed", rule=f"C{i}") for i in range(12)),
    )
    shown = lines(*rows, width=width)
    assert [line for line in shown if column_count(line) > width] == []
    assert any("0 / 0.5" in line for line in shown)


@pytest.mark.parametrize("width", [40, 60, 80])
def test_a_message_by_itself(width: int) -> None:
    """It begins at the margin, prose fits, and code stands in a line of its own as it is."""
    code = f"    print({'x' * 90})"
    told = list(message_lines(row("a", "failed", "values", f"{'word ' * 30}\n\n{code}"), width))
    assert told[-2:] == ["", code]
    assert " ".join(told[:-2]).split() == ["word"] * 30
    assert not told[0].startswith(" ")
    assert width - 14 < max(map(len, told[:-2])) <= width


def test_wrong_cells_and_known_mistakes_are_coloured() -> None:
    """Where colours are not seen, marks stand in their place; a message for another program has none."""
    picture = Picture(grid=Grid((("1", "2"),), (("1", "3"),), ((False, True),), 1))
    failed = row("a", "failed", "values", "wrong")
    failed = replace(failed, outcome=replace(failed.outcome, picture=picture))
    exercise = load_course(COURSES / "tiny").exercises[0]
    mistakes = (Mistake("You add.", checks=("a",)),)
    graded = GradedExercise(exercise, "started", (failed,), Score(0, 50), mistakes=mistakes)
    printed = "\n".join(exercise_lines(graded, colours=True))
    red = {text: click.style(text, fg="red", bold=True, reverse=True) for text in (" 3 ", "   ")}
    assert f"│ 1 │{red[' 3 ']}│" in printed
    assert f"{red['   ']} marks wrong elements" in printed
    assert click.style("          This looks like: You add.", fg="yellow") in printed
    marked = [line.strip() for line in exercise_lines(graded) if "│" in line or "marks" in line]
    assert marked == ["│ 1 │ 2 │    │ 1 │>3<│", "> < marks wrong elements"]
    assert "\x1b" not in "\n".join(message_lines(failed))
    assert "\x1b" not in "\n".join(line for line in exercise_lines(graded, plain=True) if ">" in line)


def test_warnings_have_a_title_of_their_own() -> None:
    """What PyTorch warned of is not shown as if the student had printed it, even in the middle of a printed line."""
    exercise = load_course(COURSES / "tiny").exercises[0]
    output = f"a{WARNED}double.py:3: UserWarning: look here\nb\n"
    graded = GradedExercise(exercise, "started", (row("x", "failed"),), Score(0, 50), output=output)
    shown = list(exercise_lines(graded))
    at = shown.index("  You printed:")
    assert shown[at : at + 4] == [
        "  You printed:",
        "    | ab",
        "  Your code caused warnings:",
        "    | double.py:3: UserWarning: look here",
    ]


def test_a_librarys_warning_is_shown_once_and_without_the_path_of_an_installation() -> None:
    """A warning that each of many ranks causes is one line, which begins with the library's own file."""
    exercise = load_course(COURSES / "tiny").exercises[0]
    warned = f"{WARNED}/home/a student/lib/python3.11/site-packages/torch/storage.py:7: FutureWarning: it is old\n"
    graded = GradedExercise(exercise, "started", (row("x", "failed"),), Score(0, 50), output=warned * 3)
    shown = list(exercise_lines(graded))
    at = shown.index("  Your code caused warnings:")
    assert shown[at + 1 :] == ["    | torch/storage.py:7: FutureWarning: it is old"]
