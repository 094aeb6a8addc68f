"""Odd answers: what no right answer gives, tried on every function of a reference.

A fixed set, the same for every exercise: it shows what an author did not think of. None may break a check, and none may
get full marks.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from grader.course.answers import Answer
from grader.model import Exercise
from grader.verify.cases import Case

ODD = {
    "None": "None",
    "a_text": "'text'",
    "an_empty_list": "[]",
    "a_class": "dict",
    "a_generator": "(number for number in range(3))",
    "a_function": "lambda *values: values",
    "another_shape": "torch.zeros(7, 1, 7)",
    "an_empty_tensor": "torch.empty(0)",
    "not_a_number": "float('nan')",
    "a_tensor_of_nan": "torch.full((2, 2), float('nan'))",
    "complex_numbers": "torch.full((2,), 1j)",
    "a_narrow_dtype": "torch.zeros(2, dtype=torch.float8_e4m3fn)",
    "a_wide_expanded_tensor": "torch.zeros(1).expand(1000, 1000)",
    "requires_grad": "torch.zeros(2, requires_grad=True)",
    "an_array": "np.zeros(2)",
    "zeros": "_like(right(*args, **named), lambda value: value * 0, None)",
    "two_percent_more": "_like(right(*args, **named), lambda value: value * 1.02, None)",
    "arguments_overwritten": "_like(_overwriting(args, named), lambda value: value * 0, None)",
}
"""What each gives, as an expression over `args`, `named` and the reference's function `right`."""

_TEXT = '''

import numpy as np
import torch

right = {name}


def _like(value, change, instead):
    """The value changed, where it is made of inexact numbers; else something that nobody asks for."""
    if isinstance(value, torch.Tensor) and value.is_floating_point() and value.numel():
        return change(value)
    if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size:
        return change(value)
    return change(value) if type(value) is float and value else instead


def _overwriting(args, named):
    """What is right, and zeros in every argument afterwards."""
    value = right(*args, **named)
    for argument in [*args, *named.values()]:
        if isinstance(argument, torch.Tensor):
            with torch.no_grad():
                argument.zero_()
        elif isinstance(argument, np.ndarray):
            argument[...] = 0
    return value


def {name}(*args, **named):
    return {odd}
'''


def odd_cases(exercise: Exercise) -> Iterator[Case]:
    """A case for each odd answer of each public function of the reference."""
    if exercise.reference is None:
        return
    text = exercise.reference.read_text(encoding="utf-8")
    # A function that only some checks ask for, and a class, would give what is odd for reasons of its own.
    names = [node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name[0] != "_"]
    asked = [name for name in names if any(f"`{name}" in line for line in exercise.contract.values())]
    for name in asked:
        for odd, expression in ODD.items():
            source = text + _TEXT.format(name=name, odd=expression)
            path = exercise.reference.with_name(f"{name} gives {odd}")
            yield Case(exercise, "odd", Answer(path, source.encode(), "", ""), 0)
