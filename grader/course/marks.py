"""What broken rules cost where marks are given: the sentences about `caps`, made of exercise.yaml and the check files.

They stand in no task, so that a student who learns reads rules alone. `grade show --rules` prints them, and a copy from
`grade release` has them at the end of each task.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Collection, Iterator
from pathlib import Path

from grader.model import Exercise
from grader.model.errors import CourseError
from grader.model.score import points_text

_WIDTH = 120
_QUOTES = (b'"""', b"'''")


def declared_checks(path: Path) -> Iterator[tuple[str, str, str]]:
    """Yield the id, the rule and the title of each check in a file, which is not imported.

    The function `check_views` with the decorator `@check("C2")` and the docstring "Views stay views." is
    `("views", "C2", "Views stay views.")`.
    """
    try:
        body = ast.parse(path.read_bytes()).body
    except (OSError, SyntaxError, ValueError):  # `grade` says what is wrong with it
        return
    for function in (node for node in body if isinstance(node, ast.FunctionDef) and node.name.startswith("check_")):
        for mark in function.decorator_list:
            match mark:
                case ast.Call(func=ast.Name(id="check"), args=[ast.Constant(value=str(rule)), *_]):
                    title = (ast.get_docstring(function) or function.name).split("\n")[0]
                    yield function.name.removeprefix("check_"), rule, title


def caps_text(exercise: Exercise) -> str:
    """Return sentences on how many points an exercise earns at most while rules are broken.

    An example is "If you break C1 or C2, you get at most 3 points." The result is "" without caps. If not each check of
    a rule caps the points, the sentence says "a shown check" or "some hidden checks" of the rule, because the name of a
    hidden check is not public.
    """
    capped: dict[tuple[str, bool], list[int | None]] = {}
    for path in filter(None, (exercise.shown_checks, exercise.hidden_checks)):
        for id, rule, _ in declared_checks(path):
            of_check = [exercise.caps[name] for name in (rule, id) if name in exercise.caps]
            capped.setdefault((rule, path == exercise.shown_checks), []).append(min(of_check, default=None))
    rules, told, sentences = {rule for rule, _ in capped}, set[str](), []
    for cap in sorted({*exercise.caps.values()}):
        broken, shown, hidden = set[str](), set[str](), set[str]()
        for (rule, is_shown), caps in capped.items():
            if cap in caps and rule not in told:
                of_rule = [each for key, values in capped.items() if key[0] == rule for each in values]
                whole = all(each is not None and each <= cap for each in of_rule)
                (broken if whole else shown if is_shown else hidden).add(rule)
        cases = []
        if broken:
            cases.append(f"you break {_broken_rules_text(broken, told | broken, rules)}")
        if shown:
            every = {rule for rule, is_shown in capped if is_shown} - broken - told
            cases.append("a shown check fails" if shown == every else f"a shown check of {_rule_ranges(shown)} fails")
        if hidden:
            cases.append(f"some hidden checks of {_rule_ranges(hidden)} fail")
        if cases:
            sentences.append(f"If {', or if '.join(cases)}, you get at most {points_text(cap)} points.")
        told |= broken
    return " ".join(sentences)


def with_caps_text(exercise: Exercise, source: bytes) -> bytes:
    """Return a starter with the sentences of `caps_text` at the end of its task.

    A starter without a task, or of an exercise without caps, is returned unchanged.

    Raises:
        CourseError: its task does not stand in triple quotes.
    """
    text = caps_text(exercise)
    if not text:
        return source
    try:
        tree = ast.parse(source)
    except SyntaxError:  # fixing that may be the exercise
        return source
    if ast.get_docstring(tree) is None:
        return source
    task = tree.body[0]
    lines = source.splitlines(keepends=True)
    last = (task.end_lineno or 1) - 1
    end = sum(map(len, lines[:last])) + (task.end_col_offset or 0)
    quotes = source[end - 3 : end]
    if quotes not in _QUOTES:
        raise CourseError(f"{exercise.path.as_posix()}: write the task in triple quotes")
    newline = "\r\n" if b"\r\n" in source else "\n"
    paragraph = newline.join(["", "", *textwrap.wrap(text, _WIDTH, break_long_words=False), ""])
    return source[: end - 3].rstrip() + paragraph.encode() + source[end - 3 :]


def _broken_rules_text(broken: Collection[str], so_far: Collection[str], rules: Collection[str]) -> str:
    """Return how a sentence on caps names the broken rules, such as "C1 or C2".

    If the exercise has the rules C1 to C3, all three are "a rule". After a sentence on C1, the other two are
    "any other rule". A single rule keeps its name.

    Args:
        broken: the rules of this sentence.
        so_far: the rules of this sentence and of earlier ones.
        rules: all rules of the exercise.
    """
    if set(so_far) == set(rules) and len(broken) > 1:
        return "a rule" if len(broken) == len(rules) else "any other rule"
    return _rule_ranges(broken, "or")


def _rule_ranges(rules: Collection[str], word: str = "or") -> str:
    """Return rules as a text, in order, with three or more in a row as a range.

    With the word "or", C1, C2, C3 and C5 become "C1 to C3 or C5".
    """
    numbers = sorted(int(rule.removeprefix("C")) for rule in rules)
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    names = []
    for run in runs:
        names += [f"C{run[0]} to C{run[-1]}"] if len(run) > 2 else [f"C{number}" for number in run]
    return _join_words(names, word)


def _join_words(words: list[str], word: str = "or") -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {word} {words[-1]}"
