"""What becomes of the submissions that students really hand in: one clear message each."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
import torch
from support import RIGHT, Function, Grade, grader_of, message, verdicts

from grader.model import Course, Verdict
from grader.model.endings import WorkerLost
from grader.report.words import printed_in, warnings_in
from grader.runner.lane import Lane

pytestmark = pytest.mark.lane

IN_PLACE = "def double_(x):\n    return x.mul_(2)\n"


def double(body: str, before: str = "") -> str:
    return f"{before}\ndef double(x):\n    {body}\n\n\n{IN_PLACE}"


def test_untouched_starter_earns_nothing(tiny: Course, grade_text: Grade) -> None:
    """An untouched starter earns exactly 0, even where its given code is right."""
    starter = tiny.exercises[1].starter.read_bytes()
    graded = grade_text(starter, "total")
    assert graded.score.earned == 0
    assert graded.state == "not_started"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(b"\xef\xbb\xbf" + RIGHT.encode(), id="utf-8 with BOM"),
        pytest.param(RIGHT.replace("\n", "\r\n").encode(), id="CRLF"),
        pytest.param(RIGHT.replace("\n", "\r").encode(), id="CR"),
        pytest.param(b"# -*- coding: latin-1 -*-\nNAME = '\xe9'\n" + RIGHT.encode(), id="latin-1, declared"),
    ],
)
def test_encodings_that_python_reads(grade_text: Grade, text: bytes) -> None:
    """What Python itself can import is graded; a right answer passes every check and gets full marks."""
    graded = grade_text(text)
    assert set(verdicts(graded).values()) == {"passed"}
    assert (graded.score.earned, graded.score.possible, graded.state) == (1000, 1000, "done")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param("def double(x)\n    return x\n", ["SyntaxError: expected ':'", "double.py, line 1"], id="syntax"),
        pytest.param("import no_such_module\n", ["No module named 'no_such_module'", "line 1"], id="import"),
        pytest.param(b"NAME = '\xe9'\n", ["does not load: SyntaxError", "utf-8"], id="latin-1"),
        pytest.param("x = 1\0\n", ["null bytes"], id="nul"),
        pytest.param("1 / 0\n", ["ZeroDivisionError", "line 1"], id="raises"),
        pytest.param("def f():\n\treturn 1\n        return 2\n", ["does not load"], id="tabs"),
        pytest.param("raise SystemExit(0)\n", ["ends itself while it loads", "SystemExit", "line 1"], id="exit"),
        pytest.param("x = 1\nexit()\n", ["your double.py ends itself while it loads", "line 2"], id="exit()"),
    ],
)
def test_one_that_does_not_load(grade_text: Grade, text: str | bytes, told: list[str]) -> None:
    """All checks have the verdict error and one message, which names the line and the error."""
    graded = grade_text(text)
    assert set(verdicts(graded).values()) == {"error"}
    assert len({row.outcome.message for row in graded.checks}) == 1
    for part in told:
        assert part in graded.checks[0].outcome.message
    assert graded.score.earned == 0


@pytest.mark.parametrize(
    ("body", "verdict", "told"),
    [
        ("import os; os._exit(0)", "crashed", "ended Python before it returned (exit status 0)"),
        ("import ctypes; ctypes.string_at(0)", "crashed", "crashed Python itself (SIGSEGV)"),
        ("import sys; sys.exit(0)", "crashed", "called exit() or sys.exit()"),
        ("raise KeyboardInterrupt", "crashed", "raised KeyboardInterrupt"),
        ("raise NotImplementedError", "skipped", "is not written yet"),
        ("return input()", "crashed", "waits for `input()`; remove it"),
        ("breakpoint()", "crashed", "stops at a breakpoint; remove it"),
        ("import pdb; pdb.set_trace(); return x", "crashed", "stops at a breakpoint; remove it"),
        ("return x ^ 2", "crashed", "a power is `**`"),
        ("return x.to('meta').tolist()", "crashed", "raised NotImplementedError: Cannot copy out of meta tensor"),
        ("if x.dim() == 1: raise NotImplementedError", "crashed", "raised NotImplementedError\n"),
        ("return [0] * 10**12", "over_limit", "more memory than the exercise allows"),
        ("import torch; return torch.ones(10**11)", "over_limit", "more memory than the exercise allows"),
        ("while True: print('spam' * 1000)", "over_limit", "printed more than"),
        ("2 * x", "failed", "expected the result to be a tensor, got None (is a `return` missing?)"),
        ("def f(): pass\n    return None", "failed", "expected the result to be a tensor, got None\n"),
        ("return", "skipped", "is not written yet (it returns None)"),
        ("if x is None:\n        return 1\n    x + 1", "failed", "got None\n"),
        ("return print(x)", "failed", "expected the result to be a tensor, got None"),
        ("return lambda: 1", "failed", "to be a tensor, got a function"),
        ("return x.double", "failed", "to be a tensor, got a function (are its `()` missing?)"),
        ("return (2 * x).to_sparse()", "failed", "got a tensor that the grader cannot read (it is sparse"),
        ("a = []; a.append(a); return a", "crashed", "sent the grader a value that it cannot read"),
    ],
)
def test_one_that_fails_in_a_call(grade_text: Grade, body: str, verdict: str, told: str) -> None:
    """The check of that call gets its verdict and message; the other function keeps its points."""
    graded = grade_text(double(body))
    assert verdicts(graded)["small"] == verdict
    assert told in message(graded, "small")
    assert verdicts(graded)["in_place"] == "passed"


def test_one_that_stops_answering(grade_text: Grade) -> None:
    """A function that has given a value is written: where it raises a starter's error later, it raised an error."""
    later = "def later():\n    raise NotImplementedError\n"
    graded = grade_text(double("return 2 * x if x.dim() == 1 else later()", later))
    found = verdicts(graded)
    assert (found["small"], found["random"]) == ("passed", "crashed")
    assert message(graded, "random").startswith("your `double` raised NotImplementedError")
    assert set(verdicts(grade_text(double("return later()", later))).values()) == {"skipped", "passed"}


@pytest.mark.parametrize("given", ["two = 2", "from math import tau as two", "def two(): pass"])
def test_one_whose_names_are_given_where_nothing_runs(grade_text: Grade, given: str) -> None:
    """What is missing for a block that runs only as a program is told with the line that gives it, and what to do."""
    told = message(grade_text(double("return two * x", f'if __name__ == "__main__":\n    {given}')), "small")
    assert "raised NameError: name 'two' is not defined" in told
    assert (
        '    double.py, line 2 gives `two` a value under `if __name__ == "__main__"`, which runs only if the file is'
        in told
    )


def test_command_line_of_its_own(grade_text: Grade) -> None:
    """A module that reads arguments finds none, and none of ours; nor has a warning that Python prints our folder."""
    before = (
        "import argparse, sys, warnings\nargparse.ArgumentParser().parse_args()\nassert sys.argv == ['double.py']\n"
    )
    graded = grade_text(f"{before}warnings.warn('look here')\n{double('return 2 * x')}")
    assert set(verdicts(graded).values()) == {"passed"}
    assert warnings_in(graded.output) == "double.py:4: UserWarning: look here"


def test_warnings_stand_apart_from_what_was_printed(grade_text: Grade) -> None:
    """A report has what the student printed, and apart from it each warning on one line with its place."""
    before = "import torch\nprint('look here')\ntorch.ones(1, 1, 1).T\n"
    graded = grade_text(before + double("return 2 * x"))
    assert set(printed_in(graded.output).splitlines()) == {"look here"}
    (warning,) = set(warnings_in(graded.output).splitlines())
    assert warning.startswith("double.py:3: UserWarning: The use of `x.T`")


def test_endless_loop_in_a_call(grade_text: Grade) -> None:
    """A function that ran out of its time is not called again: its checks lose, and the line is named where it was."""
    graded = grade_text(double("while True: pass"))
    assert verdicts(graded) == {"small": "timed_out", "in_place": "passed", "random": "timed_out", "dtype": "timed_out"}
    told = "your `double` did not finish in 2 seconds; it was then at\n    double.py, line 3, in double\n"
    assert message(graded, "small").startswith(told)
    assert message(graded, "random").startswith("your `double` did not finish in 2 seconds; it is not called again\n")
    assert {row.outcome.cause for row in graded.checks} == {"raised", ""}


def test_endless_loop_at_import(grade_text: Grade) -> None:
    """One load time-out decides all checks; the line is named."""
    graded = grade_text("while True: pass\n")
    assert set(verdicts(graded).values()) == {"timed_out"}
    assert "it was then at\n    double.py, line 1\n        while True: pass" in message(graded, "small")
    assert {row.outcome.cause for row in graded.checks} == {"load"}


@pytest.mark.parametrize(
    "body", ["time.sleep(1000)", "signal.signal(signal.SIGUSR1, signal.SIG_IGN)\n    while True: pass"]
)
def test_a_call_that_does_not_answer_is_ended(function: Function, body: str) -> None:
    """Who waits uses no CPU time, and who does not hear where it is asked to stop is ended all the same."""
    total = function(f"import signal, time\ndef total(x):\n    {body}\n", call_s=0.2)
    with pytest.raises(WorkerLost, match="your `total` did not finish in") as lost:
        total(torch.ones(2))
    assert lost.value.verdict is Verdict.TIMED_OUT
    assert len(lost.value.frames) == ("sleep" in body)  # the line where it was, if it told one


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "class Answer:\n    def double(x): pass\n",
            "double.py, line 2 defines it in the class `Answer`; move it out of that",
        ),
        (
            "def f():\n    def double(x): pass\n",
            "double.py, line 2 defines it in the function `f`; move it out of that",
        ),
        (
            "if __name__ == '__main__':\n    def double(x): pass\n",
            'double.py, line 2 defines it under `if __name__ == "__main__"`, which runs only if the file is started as '
            "a program",
        ),
        (
            "if 0:\n    def double(x): pass\n",
            "double.py, line 2 defines it under the `if` of double.py, line 1, which did not run",
        ),
    ],
)
def test_a_function_that_is_elsewhere(grade_text: Grade, text: str, told: str) -> None:
    """A function that is not at the top level of the file is missing, and the message says where it is."""
    graded = grade_text(text)
    assert f"your double.py has no `double` at its top level: {told}" in message(graded, "small")
    assert set(verdicts(graded).values()) == {"error"}


def test_a_compiled_function(grade_text: Grade) -> None:
    """No compiler can run beside the grader: `torch.compile` leaves a function as it is."""
    double = "import torch\n@torch.compile\ndef double(x):\n    return 2 * x\n"
    text = f"{double}\ndouble_ = torch.compile(lambda x: x.mul_(2))\n"
    assert grade_text(text).score.earned == 1000
    text = text.replace("@torch.compile", "@torch.compile(fullgraph=True, mode='max-autotune')")
    assert grade_text(text).score.earned == 1000


def test_missing_function_names_a_near_one(grade_text: Grade) -> None:
    """A function that is not there is named, with what is there instead."""
    graded = grade_text("def doubel(x):\n    return 2 * x\n")
    assert "has no `double`; did you mean `doubel`?" in message(graded, "small")
    assert set(verdicts(graded).values()) == {"error"}
    # A function that refuses its arguments is shown with its own signature.
    graded = grade_text(f"def double(x, y):\n    return 2 * x\n{IN_PLACE}")
    assert "your function is double(x, y); keep the starter's parameters" in message(graded, "small")


def test_prints_of_a_megabyte(grade_text: Grade) -> None:
    """Much output costs nothing and is cut."""
    graded = grade_text(double("print('x' * 10**6); return 2 * x"))
    assert graded.score.earned == 1000
    assert len(graded.output) < 20_000
    assert "more lines" in graded.output


def test_own_modules_can_be_imported(tiny: Course, fork_lane: Lane, tmp_path: Path) -> None:
    """A file beside the exercise's own comes along; as in plain Python, it comes before the standard library's."""
    (tmp_path / "mine.py").write_text("FACTOR = 2\n")
    (tmp_path / "fractions.py").write_text("HALF = 0.5\n")
    grade = grader_of(tiny, fork_lane, tmp_path)
    text = "from fractions import HALF\nfrom mine import FACTOR\ndef double(x):\n    return 2 * HALF * FACTOR * x\n"
    graded = grade(text.replace("2 * HALF", "int(2 * HALF)") + IN_PLACE)
    assert graded.score.earned == 1000


def test_free_text_of_a_worker_stays_out_of_hidden_messages(grade_text: Grade) -> None:
    """A made-up signature is shown for a shown check, and not for a hidden one."""
    liar = (
        "import inspect\n"
        "class Lie:\n"
        "    def __call__(self): pass\n"
        "    __signature__ = inspect.Signature([inspect.Parameter('CAN' + 'ARY', inspect.Parameter.KEYWORD_ONLY)])\n"
        "double = type('double', (), {'__new__': lambda cls: None})\n"
        "double.__signature__ = Lie.__signature__\n" + IN_PLACE
    )
    graded = grade_text(liar)
    assert "CANARY" in message(graded, "small")
    assert "CANARY" not in message(graded, "random") + message(graded, "dtype")


def test_hidden_check_quotes_contract_and_example(grade_text: Grade) -> None:
    """A hidden check's message names the property, quotes the contract line and gives something to try."""
    text = message(grade_text(double("return 3 * x")), "random")
    assert text.startswith("the result has the wrong values\nC1  ")
    assert "C1  `double(x)` returns a new tensor with every element doubled." in text
    assert "Try this: double(torch.ones(2, 2))" in text
    assert "tensor([" not in text


def test_shown_check_can_be_reproduced(grade_text: Grade, tmp_path: Path) -> None:
    """The lines at the end of a failing shown check run as they stand and show the wrong value."""
    text = message(grade_text(double("return 3 * x")), "small")
    code = dedent(text.split("To see it in plain Python:\n")[1])
    ran = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "tensor([3., 6., 9.])"


def test_an_operation_count_finds_a_loop(grade_text: Grade) -> None:
    """A Python loop is found by counts, a list by the missing gradient; the right way passes."""
    looped = grade_text("def total(x):\n    return sum(x, x.new_zeros(()))\n", "total")
    assert verdicts(looped)["counts"] == "failed"
    told = looped.checks[-1].outcome
    assert (told.counters, told.detail.startswith("counted")) == ({}, False)  # a hidden check: staff alone read it
    assert "counted: {'ops': 2" in told.detail
    listed = "import torch\ndef total(x):\n    return torch.tensor(sum(x.tolist()))\n"
    assert verdicts(grade_text(listed, "total"))["counts"] == "failed"
    assert grade_text("def total(x):\n    return x.sum()\n", "total").score.earned == 500


def test_same_submission_same_score(grade_text: Grade) -> None:
    """Gradings of one submission, which draws random numbers itself, give one report."""
    text = "import torch\n" + double("return 2 * x if torch.rand(()) > 0.3 else x")
    graded = [grade_text(text) for _ in range(5)]
    assert len({(row.score, tuple(verdicts(row).items())) for row in graded}) == 1


@pytest.mark.parametrize("at_load", [True, False])
def test_each_check_begins_with_the_gradients_of_the_loaded_module(grade_text: Grade, at_load: bool) -> None:
    """What a function leaves switched off is not left for the next check."""
    off = "    print(torch.is_grad_enabled(), torch.set_grad_enabled(False))\n"
    functions = f"def double(x):\n{off}    return 2 * x\ndef double_(x):\n{off}    return x.mul_(2)\n"
    graded = grade_text(f"import torch\ntorch.set_grad_enabled({at_load})\n{functions}")
    assert [line.split()[0] for line in graded.output.splitlines()] == [str(at_load)] * 2


def test_spawned_workers_give_the_same(tiny: Course, spawn_lane: Lane, tmp_path: Path) -> None:
    """Without fork, Unix sockets and memfd the verdicts and messages are the same."""
    body = "if x.tolist() == [1.0, 2.0, 3.0]: os._exit(3)\n    return 3 * x"
    text = double(body, "import os").replace("    return x.mul_", "    print(__file__)\n    return x.mul_")
    graded = grader_of(tiny, spawn_lane, tmp_path)(text)
    assert verdicts(graded) == {"small": "crashed", "in_place": "passed", "random": "failed", "dtype": "passed"}
    assert "exit status 3" in message(graded, "small")
    assert graded.output == "double.py\n", "no folder of ours in it"


def test_a_syntax_error_has_carets(grade_text: Grade) -> None:
    """Below the line stand carets, as Python prints them; NameError and AttributeError keep Python's question."""
    lines = message(grade_text("def double(x):\n    return (x +* 2)\n"), "small").split("\n")
    assert lines[1:4] == ["    double.py, line 2", "        return (x +* 2)", "                   ^"]
    for body, told in (
        ("return torhc", "name 'torhc' is not defined. Did you mean: 'torch'?"),
        ("return x.sqare()", "has no attribute 'sqare'. Did you mean: 'square'?"),
    ):
        assert told in message(grade_text(double(body, "import torch")), "small")


def test_a_hidden_check_shows_the_line_and_the_text(grade_text: Grade) -> None:
    """A crash in a hidden check shows the student's line, and a known text without its numbers; no other text."""
    text = message(grade_text(double("return x + x.flatten()[:-1]")), "random")
    assert text.startswith("your `double` raised RuntimeError: The size of tensor a (N) must match")
    assert "\n    double.py, line 3\n        return x + x.flatten()[:-1]\n" in text
    raised = message(grade_text(double("raise ValueError(f'CANARY {x}')")), "random")
    assert raised.startswith("your `double` raised ValueError\n    double.py, line 3\n")
    many = "\n    ".join(f"y = {number}" for number in range(40))
    assert "line" not in message(grade_text(double(f"{many}\n    raise ValueError")), "random").split("\nC1")[0]
