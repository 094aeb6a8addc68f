"""What answers are compared by: what their code does, and not how it is written."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader.check.costs import most_frequent
from grader.check.loops import _OVER_ROWS
from grader.check.show import timeline_of
from grader.grading.behaviour import (
    COSTS,
    Names,
    SealedFacts,
    Trace,
    behaviour_key,
    failures_of,
    is_sealed,
    read_sealed,
    seal,
    sealed_file,
    suspects_of,
    traces_of,
    unseal,
)
from grader.model import Check, GradedCheck, Outcome, Score, Speed, Verdict
from grader.model.picture import Moment

FAILED = Verdict.FAILED
REFUSED = "`f` raised a ValueError for 1; expected a result\nit raised {}\n    double.py, line 2, in f\n        {}"
RAISED = "your `f` raised {}\n    double.py, line 2, in double\n        {}"
INSTEAD = "your `f` raised AssertionError; expected a ValueError\nAssertionError{}\n    a.py, line 2, in f\n        {}"


def trace(detail: str, verdict: Verdict = FAILED, category: str = "correctness", **more: Any) -> Trace:
    return Trace.of(Outcome("small", verdict, "", detail, **more), category)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("asked  2.0\n    double.py, line 2, in double\n        return 3 * x", "asked  2.0\n    double.py, line 9"),
        ("yours  0.1234567", "yours  0.1234571"),
        ("your file uses torch (double.py, line 2)", "your file uses torch (double.py, line 9)"),
        ("<object at 0x7f31> 3", "<object at 0x7f99> 3"),
        ("no file /somewhere/grade-1/work/a.txt 3", "no file /somewhere/grade-2/work/a.txt 3"),
        ("yours  3\ncounted: {'ops': 1}", "yours  3\ncounted: {'ops': 9}"),
        (RAISED.format("ValueError: a", "raise ValueError(x)"), RAISED.format("ValueError: b", "raise ValueError(x)")),
        (
            REFUSED.format("ValueError: a", "raise ValueError(x)"),
            REFUSED.format("ValueError: b", "raise ValueError(y)"),
        ),
        (
            RAISED.format("ValueError: a", "raise ValueError(x)") + "\ncounted: {'peak': 1}",
            RAISED.format("ValueError: b", "raise ValueError(y)") + "\ncounted: {'peak': 2}",
        ),
        (INSTEAD.format(": one, please", "assert x, 'one, please'"), INSTEAD.format("", "assert x")),
    ],
)
def test_how_code_is_written_does_not_count(one: str, other: str) -> None:
    """Lines, rounding, addresses, folders, counts, and the words of an own error make no difference."""
    assert trace(one) == trace(other)


def test_which_function_of_python_loops_does_not_count() -> None:
    """Where operations are counted, code that loops by `sum` is as code that loops by `max`, or by a `for`."""
    told = {name: trace(f"more lines\n{said}", category=COSTS) for name, said in _OVER_ROWS.items()}
    assert {*told.values()} == {trace("more lines", category=COSTS)}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("yours  3", "yours  4"),
        ("yours  0.12", "yours  0.13"),
        ("yours  (1, 2)", "yours  (2, 1)"),
        (RAISED.format("ValueError: a", "raise ValueError(x)"), RAISED.format("TypeError: a", "raise TypeError(x)")),
        (RAISED.format("ValueError: a", "x.view(3)"), RAISED.format("ValueError: b", "x.view(3)")),
        (INSTEAD.format(": a", "x.view(3)"), INSTEAD.format(": b", "x.view(3)")),
    ],
)
def test_what_it_does_counts(one: str, other: str) -> None:
    """Other values, another type of error and what PyTorch says are another mistake, and so is another verdict."""
    assert trace(one) != trace(other)
    assert trace(one) != trace(one, Verdict.CRASHED)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "`f` uses `torch.mean`, which the rule does not allow; allowed: where\n    f.py, line 2\n        mean(x)",
            "`f` uses `.mean`, which the rule does not allow; allowed: where\n    f.py, line 9, in f\n        x.mean()",
        ),
        (
            "`f` uses `outer`, which the rule forbids (`.ger` is another name or form of it)\n    f.py, line 2",
            "`f` uses `outer`, which the rule forbids\n    f.py, line 7",
        ),
        (
            "your file imports numpy, which the rule forbids (line 1)",
            "your file imports numpy, which the rule forbids (line 3)",
        ),
        ("`f` contains a loop: `for`\n    f.py, line 2", "`f` contains a loop: a comprehension\n    f.py, line 2"),
    ],
)
def test_of_a_rule_on_the_text_the_spelling_does_not_count(one: str, other: str) -> None:
    """Two spellings of one mistake, and two lines, are the same mistake; another use is another one."""
    assert trace(one, from_text=True) == trace(other, from_text=True) != trace(one)
    assert not trace(one, from_text=True).has_value
    another = one.replace("mean", "sum").replace("outer", "inner").replace("numpy", "scipy").replace("loop", "call")
    assert trace(another, from_text=True) != trace(one, from_text=True)


def test_a_function_of_python_over_rows_is_another_mistake() -> None:
    """A loop in whichever form is one mistake; that Python's `max` iterates over rows is another, and so is `sum`."""
    said = "`f` contains {}: {}\n    f.py, line 2"
    for contains in ("a loop", "more loops than the rule allows"):
        rows = [
            said.format(contains, f"Python's `{name}` iterates over the rows of a tensor") for name in ("max", "sum")
        ]
        written = [said.format(contains, name) for name in ("a `for` statement", "`map`, which calls a function")]
        assert len({trace(text, from_text=True) for text in (*rows, *written)}) == 3


def test_the_same_words_of_two_functions_are_two_mistakes() -> None:
    """A check that goes through several functions ends in the first that is wrong, whichever it is."""
    told = [trace("expected float64, got float32", called=called) for called in (("f",), ("f", "g"), ("h", "g"))]
    assert told[0] != told[1] == told[2]


def test_of_costs_the_size_is_left() -> None:
    """Of a count its power of two, of operations not their names, of a time, which the machine decides, no number."""

    def costs(detail: str, **more: Any) -> Trace:
        return trace(detail, category="performance", **more)

    counts = [f"`f` makes more than 64 bytes\ncounted {count}, at most 64" for count in ("80", "100", "160")]
    assert costs(counts[0]) == costs(counts[1]) != costs(counts[2])
    assert trace(counts[0]) != trace(counts[1])  # in other checks each number counts
    loops = (Counter(gt=80, item=80), Counter(select=90, add=41, mul=29, sub=1))
    one, other = (f"small input  25 operations\nlarge input  240 operations ({most_frequent(ops)})" for ops in loops)
    assert one != other
    assert costs(one) == costs(other)
    over = "`f` runs more\nsmall input  {} operations\nlarge input  {} operations ({} add), as in a loop over {} items"
    going = [over.format(*numbers) for numbers in ((9, 81, 80, "80"), (45, 401, 160, "80"), (9, 81, 80, "40"))]
    assert costs(going[0]) == costs(going[1]) != costs(going[2])  # a loop may do much or little in each turn
    lines = [
        f"`f` runs more\nsmall input  9 lines\nlarge input  81 lines (a.py, line {line}: 80 times)" for line in (7, 90)
    ]
    assert costs(lines[0]) == costs(lines[1])
    speed = (Speed("", "", 2.0, 1.0, 3.0, 1.5, 1.0, 1.0, 9, 3),)
    one, other = (f"takes {ratio} times as long\nby {ratio}" for ratio in ("2.5", "71"))
    assert costs(one, speed=speed) == costs(other, speed=speed)


@pytest.mark.parametrize("category", ["performance", "memory"])
@pytest.mark.parametrize(
    "text",
    [
        "`f` makes more than 64 bytes of new memory\nexpected at most 64, got {:,}",
        "`f` makes new memory\nexpected at most 0, got {:,}",
        "`f` needs more than 64 bytes of new memory at a time\nexpected at most 64, got {:,}",
        "`f` needs more than eight tables\nyour call needs {:,} bytes at its peak, the reference needs 640",
        "`f` needs more\nexpected its process to grow by at most {limit} MB during the call, got {} MB",
    ],
)
def test_memory_above_a_limit_is_compared_by_its_ratio(text: str, category: str) -> None:
    """Two or three tables where one is too much are the same mistake as one; n times as many are another."""
    one, two, four, many = (trace(text.format(size, limit=size // 60), category=category) for size in _SIZES)
    assert one.is_like(two) and two.is_like(one) and one.is_like(four)
    assert not one.is_like(many) and not many.is_like(four)
    assert one != two and one.key != many.key
    assert not one.is_like(trace(f"{text.format(1_000, limit=16)} and more", category=category))


_SIZES = (1_000, 2_050, 3_900, 30_000)


def test_of_a_timeline_nothing_counts() -> None:
    """When a copy of the simulated GPU began depends on what ran before the call, and hangs on no mistake."""
    moments = (
        [Moment("launch mm", "host", 0.0, 5e-6), Moment("mm", "0", start, start + 2e-6)] for start in (5e-6, 9e-6)
    )
    one, other = (f"`f` copies more than twice\nexpected at most 2, got 4\n{timeline_of(row, 3)}" for row in moments)
    assert one != other
    assert trace(one, category="performance") == trace(other, category="performance")
    assert trace(one) == trace("`f` copies more than twice\nexpected at most 2, got 4")


def row(check: str, verdict: Verdict, *called: str, cause: str = "values") -> GradedCheck:
    outcome = Outcome(check, verdict, "", "yours  3", cause=cause, called=called)
    return GradedCheck(Check(check, "double", "t", category="shape"), outcome, Score(0, 10))


COMPARED = ((FAILED, "dtype"), (Verdict.CRASHED, "raised"), (Verdict.SKIPPED, "shape"))
NOT_COMPARED = (
    (Verdict.SKIPPED, "raised"),  # not written yet
    *((Verdict.SKIPPED, "name"), (Verdict.CRASHED, "signature"), (Verdict.INCONCLUSIVE, "")),
    *((Verdict.TIMED_OUT, "raised"), (Verdict.OVER_LIMIT, "raised")),
)


@pytest.mark.parametrize(("verdict", "cause"), COMPARED + NOT_COMPARED)
def test_what_can_be_compared(verdict: Verdict, cause: str) -> None:
    """What is not there says nothing, nor does code that never came to an end."""
    rows = [row("a", verdict, "f", cause=cause)]
    assert bool(traces_of(rows)) is bool(failures_of(rows)) is ((verdict, cause) in COMPARED)


def test_checks_that_call_one_function_fail_together() -> None:
    """However many others fail. A check of two functions is theirs whose own checks pass, if it called these last."""
    rows = [row("a", FAILED, "f"), row("b", FAILED, "g.weight"), row("c", Verdict.PASSED, "f", "g"), row("d", FAILED)]
    assert sorted(map(sorted, failures_of(rows))) == [["a"], ["b"], ["d"]]
    rows += [row("e", FAILED, "f", "g"), row("h", FAILED, "h"), row("i", FAILED, "f", "k"), row("l", FAILED, "k")]
    assert sorted(map(sorted, failures_of(rows))) == [["a"], ["b"], ["d"], ["h"], ["l"]]
    assert sorted(map(sorted, failures_of(rows[:-1]))) == [["a"], ["b"], ["d"], ["h"], ["i"]]
    assert {id: sorted(names) for id, names in suspects_of(rows).items()} == {
        "a": ["f"],
        "b": ["g"],
        "d": [],
        "e": ["f", "g"],
        "h": ["h"],
        "i": ["f", "k"],
        "l": ["k"],
    }


FIRST = {"small": Trace(Verdict.FAILED, "0123"), "other": Trace(Verdict.PASSED)}
SECOND = {"small": Trace(Verdict.FAILED, "4567")}
SENTENCES = {
    "You tripled it.": SealedFacts(),
    "Été: 3 x.": SealedFacts(Names((("Tensor",),), ("clone",)), ("double",), "C1"),
}


@pytest.fixture
def mistakes() -> bytes:
    """A file with one entry."""
    return sealed_file({behaviour_key("double", [FIRST, SECOND]): seal("double", [FIRST, SECOND], SENTENCES)})


def test_same_behaviour_opens(mistakes: bytes, tmp_path: Path) -> None:
    """What was sealed is read back by the same behaviour, under its name."""
    path = tmp_path / "mistakes.json"
    path.write_bytes(mistakes)
    sealed = read_sealed(path)
    assert list(sealed) == [behaviour_key("double", [FIRST, SECOND])]
    assert unseal("double", [FIRST, SECOND], sealed) == SENTENCES
    assert b"tripled" not in mistakes


@pytest.mark.parametrize(
    ("exercise", "behaviour"),
    [
        ("total", [FIRST, SECOND]),
        ("double", [FIRST, FIRST]),
        ("double", [FIRST]),
        ("double", [{**FIRST, "other": Trace(Verdict.FAILED)}, SECOND]),
        ("double", [{**FIRST, "small": Trace(Verdict.CRASHED, "0123")}, SECOND]),
    ],
)
def test_another_behaviour_opens_nothing(mistakes: bytes, exercise: str, behaviour: list[dict[str, Trace]]) -> None:
    """Another exercise, value, verdict or seed."""
    (text,) = json.loads(mistakes)["mistakes"].values()
    assert unseal(exercise, behaviour, json.loads(mistakes)["mistakes"]) == {}
    assert unseal(exercise, behaviour, {behaviour_key(exercise, behaviour): text}) == {}


@pytest.mark.parametrize(
    "change",
    [
        lambda data: b"",
        lambda data: b"[]",
        lambda data: data[:-9],
        lambda data: data + b" ",
        lambda data: data.replace(b'"version": 9', b'"version": 8'),
        lambda data: data.replace(b"{", b'{"says": "You tripled it.",'),
        lambda data: sealed_file({"triples": "AAAA"}),
        lambda data: sealed_file({"0" * 32: "You tripled it."}),
    ],
)
def test_a_damaged_file_is_refused(mistakes: bytes, tmp_path: Path, change: Callable[[bytes], bytes]) -> None:
    """Nobody is told anything of such a file, and no copy may have one."""
    assert is_sealed(mistakes)
    data = change(mistakes)
    assert not is_sealed(data)
    (tmp_path / "mistakes.json").write_bytes(data)
    assert read_sealed(tmp_path / "mistakes.json") == {}
    assert read_sealed(tmp_path / "none.json") == {}
