"""Small faults planted in each reference, one at a time: every one that changes what a function does must lose points.

    python tools/mutants.py [EXERCISE...] [--show] [--seeds N]

A mutant is the reference with one fault: an operator, a constant, a comparison or a keyword changed, a call of a chain
left out, a condition turned round, a line dropped, a copy or another dtype returned. It is graded as any submission,
with a few seeds, as a fault may show in some draws only. Those that keep full marks are printed; the equivalent ones
among them, which no input tells from the reference, stand in tools/mutants.yaml with the reason.
"""

from __future__ import annotations

import ast
import copy
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import yaml

from grader.author.cases import AnswerRun
from grader.course.answers import Answer
from grader.course.layout import find_course
from grader.course.load import find_exercises, load_course
from grader.grading.lanes import setup_of
from grader.grading.runtime import Runtime
from grader.grading.schedule import schedule
from grader.model import Course, Exercise, Verdict
from grader.model.messages import Setup

EQUIVALENT = Path(__file__).with_suffix(".yaml")

OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
NAMES = {
    "sum": "mean",
    "mean": "sum",
    "max": "min",
    "min": "max",
    "argmax": "argmin",
    "zeros": "ones",
    "ones": "zeros",
    "all": "any",
    "any": "all",
    "float64": "float32",
    "add_": "sub_",
    "view": "clone",
}
WRAPPERS = ("{}.clone()", "{}.double()", "{}.detach()", "{} * 1.02", "None")
"""What a function returns instead: a copy, another dtype, no graph, 2 % too much, nothing."""

Change = Callable[[ast.AST], None]


@dataclass(frozen=True)
class Mutant:
    """A reference with one fault.

    Attributes:
        source: the whole file.
        told: the function, and what stands there now.
    """

    source: str
    told: str


def mutants_of(source: str, functions: frozenset[str]) -> Iterator[Mutant]:
    """Yield each mutant of those functions of a file, once."""
    tree = ast.parse(source)
    seen = {ast.unparse(tree)}
    for place, node in enumerate(ast.walk(tree)):
        # By their place in the walk, so that a change is made in a copy, where the same place is the same node.
        for change in changes_of(node):
            twin = copy.deepcopy(tree)
            target = list(ast.walk(twin))[place]
            owner = _owner(twin, target)
            # Beside functions a reference may have a table of answers: a constant of it is a fault as well.
            if owner.name not in functions if owner else not isinstance(target, ast.Constant):
                continue
            change(target)
            text = ast.unparse(ast.fix_missing_locations(twin))
            if text in seen or not _compiles(text):
                continue
            seen.add(text)
            yield Mutant(text, f"{owner.name if owner else 'the file'}: {_difference(ast.unparse(tree), text)}")


def changes_of(node: ast.AST) -> Iterator[Change]:
    """Yield all changes that can be made at a node."""
    if isinstance(node, ast.stmt):
        yield from _statements(node)
    if isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in OPERATORS:
        yield lambda node: setattr(node, "op", OPERATORS[type(node.op)]())  # type: ignore[attr-defined]
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        yield lambda node: setattr(node, "ops", [COMPARISONS[type(node.ops[0])](), *node.ops[1:]])  # type: ignore[attr-defined]
    if isinstance(node, ast.Constant):
        yield from _constants(node)
    if isinstance(node, ast.Call):
        yield from _calls(node)
    if isinstance(node, ast.Attribute) and node.attr in NAMES:
        yield lambda node: setattr(node, "attr", NAMES[node.attr])  # type: ignore[attr-defined]
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        yield lambda node: setattr(node, "test", ast.UnaryOp(ast.Not(), node.test))  # type: ignore[attr-defined]
    if isinstance(node, ast.BoolOp):
        other = ast.Or if isinstance(node.op, ast.And) else ast.And
        yield lambda node: setattr(node, "op", other())
    if isinstance(node, ast.UnaryOp):
        yield lambda node: _become(node, node.operand)  # type: ignore[attr-defined]


def _statements(node: ast.stmt) -> Iterator[Change]:
    if isinstance(node, ast.Return) and node.value is not None:
        for wrapper in WRAPPERS:
            value = ast.parse(wrapper.format(f"({ast.unparse(node.value)})"), mode="eval").body
            yield lambda node, value=value: setattr(node, "value", value)  # type: ignore[misc]
    if isinstance(node, ast.FunctionDef) and len(node.body) > 1:
        first = 1 if ast.get_docstring(node) else 0
        for place in range(first, len(node.body)):
            yield lambda node, place=place: node.body.pop(place)  # type: ignore[misc]


def _constants(node: ast.Constant) -> Iterator[Change]:
    if isinstance(node.value, bool):
        yield lambda node: setattr(node, "value", not node.value)  # type: ignore[attr-defined]
    elif isinstance(node.value, int | float):
        for step in (1, -1):
            yield lambda node, step=step: setattr(node, "value", node.value + step)  # type: ignore[misc]


def _calls(node: ast.Call) -> Iterator[Change]:
    for place in range(len(node.keywords)):
        yield lambda node, place=place: node.keywords.pop(place)  # type: ignore[misc]
    if len(node.args) > 1:
        yield lambda node: node.args.reverse()  # type: ignore[attr-defined]
        yield lambda node: node.args.pop()  # type: ignore[attr-defined]
    # x.f(...).g(...) without one of its calls; not torch.f(...), where x would be the module.
    chained = isinstance(node.func, ast.Attribute) and not isinstance(node.func.value, ast.Name | ast.Attribute)
    if chained or (isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "torch") != "torch"):
        yield lambda node: _become(node, node.func.value)  # type: ignore[attr-defined]


def _become(node: ast.AST, other: ast.AST) -> None:
    """Make a node into another, in its place."""
    node.__class__ = type(other)
    node.__dict__ = copy.deepcopy(other).__dict__


def judged(source: str, exercise: Exercise) -> frozenset[str]:
    """Return the names of the functions and classes of a reference that rules name, and of those that these use."""
    uses = {
        node.name: {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    found = {name for name in uses if any(re.search(rf"\b{name}\b", rule) for rule in exercise.contract.values())}
    while new := {used for name in found for used in uses[name] if used in uses} - found:
        found |= new
    return frozenset(found)


def _owner(tree: ast.Module, target: ast.AST) -> ast.FunctionDef | ast.ClassDef | None:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and any(found is target for found in ast.walk(node)):
            return node
    return None


def _compiles(text: str) -> bool:
    try:
        compile(text, "mutant", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def _difference(old: str, new: str) -> str:
    gone = [line.strip() for line in old.splitlines() if line not in new.splitlines()]
    came = [line.strip() for line in new.splitlines() if line not in old.splitlines()]
    return " / ".join(came) or f"without {' / '.join(gone)}"


def fate_of(course: Course, setup: Setup, lanes: Runtime, exercise: Exercise, mutant: Mutant, seeds: int) -> str:
    """Return "lost" if a mutant lost points with any seed, "kept" if it kept them all, "broken" if it broke a check."""
    assert exercise.reference is not None
    answer = Answer(exercise.reference, mutant.source.encode(), "", "")
    for seed in range(seeds):
        *_, last = schedule([AnswerRun(exercise, "mutant", answer, seed).work(course, setup)], lanes)
        graded = last.graded
        if any(row.outcome.verdict is Verdict.BROKEN for row in graded.checks):
            return "broken"
        if graded.score.earned + graded.score.undecided < graded.score.possible:
            return "lost"
    return "kept"


@click.command()
@click.argument("names", nargs=-1)
@click.option("--seeds", default=3, help="How often one that keeps full marks is tried.")
@click.option("--show", is_flag=True, help="Print every mutant.")
def command(names: tuple[str, ...], seeds: int, show: bool) -> None:
    """Print how many mutants lose points, and each mutant that loses none or breaks a check."""
    course = load_course(find_course(Path.cwd()))
    exercises = [item for name in names for item in find_exercises(course, name)] or list(course.exercises)
    known = yaml.safe_load(EQUIVALENT.read_text(encoding="utf-8")) or {}
    setup = setup_of()
    worst = 0
    with Runtime(exercises, setup) as lanes:
        for exercise in exercises:
            assert exercise.reference is not None
            source = exercise.reference.read_text(encoding="utf-8")
            found: dict[str, list[str]] = {"lost": [], "kept": [], "broken": [], "equivalent": []}
            for mutant in mutants_of(source, judged(source, exercise)):
                fate = fate_of(course, setup, lanes, exercise, mutant, seeds)
                if fate == "kept" and mutant.told in known.get(exercise.id, {}):
                    fate = "equivalent"
                found[fate].append(mutant.told)
                if show:
                    click.echo(f"  {fate:<10} {mutant.told}")
            counts = ", ".join(f"{len(told)} {fate}" for fate, told in found.items())
            click.echo(f"{exercise.number} {exercise.id}: {counts}")
            for fate in ("kept", "broken"):
                for told in found[fate]:
                    click.echo(f"  {fate}: {told}")
            worst += len(found["kept"]) + len(found["broken"])
    sys.exit(1 if worst else 0)


if __name__ == "__main__":
    command()
