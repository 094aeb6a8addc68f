"""Odd answers: what no right answer gives, or hardly any, tried on every function of a reference.

A fixed set, the same for every exercise: it shows what an author did not think of. None may break a check. None may get
full marks but those of `MAY_BE_RIGHT`, and of these an author is asked.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from grader.author.cases import Case
from grader.author.proof import Proof
from grader.course.answers import Answer, read_answer
from grader.course.layout import Places
from grader.model import Exercise

ODD = {
    "None": "None",
    "a_text": "'text'",
    "an_empty_list": "[]",
    "a_class": "dict",
    "a_generator": "(number for number in range(3))",
    "a_function": "lambda *values: values",
    "another_shape": "torch.zeros(7, 1, 7)",
    "no_dim": "torch.zeros(())",
    "an_empty_tensor": "torch.empty(0)",
    "not_a_number": "float('nan')",
    "a_tensor_of_nan": "torch.full((2, 2), float('nan'))",
    "complex_numbers": "torch.full((2,), 1j)",
    "a_narrow_dtype": "torch.zeros(2, dtype=torch.float8_e4m3fn)",
    "a_wide_expanded_tensor": "torch.zeros(1).expand(1000, 1000)",
    "requires_grad": "torch.zeros(2, requires_grad=True)",
    "an_array": "np.zeros(2)",
    "zeros": "_each(right(*args, **named), lambda value: value * 0)",
    "two_percent_more": "_each(right(*args, **named), lambda value: value * 1.02)",
    "arguments_overwritten": "_each(_overwriting(args, named), lambda value: value * 0)",
    "an_overwritten_argument": "_first((_overwriting(args, named, 7), args)[1], named)",
    "the_argument": "_first(args, named)",
    "right_and_overwrites": "_overwriting(args, named)",
    "right_in_float64": "_each(right(*args, **named), _wide, tensors=True)",
    "detached": "_each(right(*args, **named), _detached, tensors=True)",
}
"""What each gives, as an expression over `args`, `named` and the reference's function `right`."""

MAY_BE_RIGHT = {
    "the_argument": "a result of its own",
    "right_and_overwrites": "arguments that stay as they are",
    "right_in_float64": "dtypes",
    "detached": "gradients",
}
"""Odd answers that are right where no rule speaks of this."""

_TEXT = '''

import numpy as np
import torch

right = {name}


def _each(value, change, tensors=False):
    """The value with all inexact numbers in it changed; a text where there are none, which nobody asks for.

    Not None: that is right of a function which writes a file.

    With `tensors` those in tensors and arrays alone; what is exact in them stays, and may be right.
    """
    found = []

    def walk(part):
        if isinstance(part, torch.Tensor) or isinstance(part, np.ndarray):
            inexact = part.is_floating_point() if isinstance(part, torch.Tensor) else part.dtype.kind == "f"
            if tensors or inexact and 0 not in part.shape:
                found.append(part)
            return change(part) if inexact else part
        if type(part) is float and part and not tensors:
            found.append(part)
            return change(part)
        if type(part) in (list, tuple):
            return type(part)(map(walk, part))
        return {{key: walk(item) for key, item in part.items()}} if type(part) is dict else part

    made = walk(value)
    return made if found else "nothing to change"


def _first(args, named):
    return next(iter([*args, *named.values()]), None)


def _wide(value):
    return value.double() if isinstance(value, torch.Tensor) else value.astype(np.float64)


def _detached(value):
    return value.detach() if isinstance(value, torch.Tensor) else value


def _overwriting(args, named, number=0):
    """What is right, and this number in every argument afterwards; a text where there is none to write into."""
    value, written = right(*args, **named), False
    for argument in [*args, *named.values()]:
        if isinstance(argument, torch.Tensor):
            with torch.no_grad():
                argument.fill_(number)
        elif isinstance(argument, np.ndarray) and argument.flags.writeable:
            argument[...] = number
        else:
            continue
        written = True
    return value if written else "nothing to write into"


def {name}(*args, **named):
    return {odd}
'''


def odd_cases(proof: Proof) -> Iterator[Case]:
    """A case for each odd answer of each public function of the reference."""
    exercise = proof.exercise
    if exercise.reference is None:
        return
    text = exercise.reference.read_text(encoding="utf-8")
    fine = read_answer(exercise, exercise.reference).fine
    for odd in fine:
        if odd not in MAY_BE_RIGHT:
            where = Places.of(exercise).reference.as_posix()
            proof.problems.append(f"{where}: odd but fine: {odd} is none of {', '.join(MAY_BE_RIGHT)}; mend the word")
    for name in functions_asked_for(exercise):
        for odd, expression in ODD.items():
            source = text + _TEXT.format(name=name, odd=expression)
            path = exercise.reference.with_name(f"{name} gives {odd}")
            answer = Answer(path, source.encode(), "", "", fine=fine)
            yield Case(exercise, "odd", answer, 0, odd=odd, function=name)


def functions_asked_for(exercise: Exercise) -> list[str]:
    """The public functions of the reference that a rule names.

    A function that only some checks ask for, and a class, would give what is odd for reasons of its own.
    """
    if exercise.reference is None:
        return []
    body = ast.parse(exercise.reference.read_text(encoding="utf-8")).body
    names = [node.name for node in body if isinstance(node, ast.FunctionDef) and node.name[0] != "_"]
    return [name for name in names if any(f"`{name}" in line for line in exercise.contract.values())]
