"""The texts that a new course and a new exercise begin with; `@word@` is filled in."""

from __future__ import annotations

COURSE = """\
# yaml-language-server: $schema=.schemas/course.schema.json
title: {title}
requires: tensorgrade>=0.1
modules: []
"""

TOPICS = """\
# What the course teaches: an id and a short name. exercise.yaml and module pages name these ids.
T1: Element-wise arithmetic
"""

EXERCISE = """\
# yaml-language-server: $schema=@up@.schemas/exercise.schema.json
number: @number@
title: @yaml_title@
kind: implement
difficulty: 1
points: 10
topics: [T1]
hints:
  - "TODO: where to look"
  - "TODO: which rule applies"
  - "TODO: nearly the code"
"""

STARTER = '''\
"""@title@

TODO: write the task in one or two sentences.

C1  `double(x)` returns a new tensor with every element doubled.
C2  The result has the dtype of x.
"""

import torch


def double(x: torch.Tensor) -> torch.Tensor:
    """Return 2 x."""
    raise NotImplementedError  # TODO
'''

SHOWN_CHECKS = '''\
"""Shown checks of @id@: students have this file. They use no reference."""

import torch

from grader.check import check, same_values


@check("C1", share=1)
def check_small(student):
    """Doubles three numbers"""
    same_values(student.double(torch.tensor([1.0, -2.0, 3.0])), torch.tensor([2.0, -4.0, 6.0]))
'''

HIDDEN_CHECKS = '''\
"""Hidden checks of @id@: every one names its contract line and gives something to try."""

import torch

from grader.check import check, same_dtype, same_values, unchanged


@check("C1", share=2, try_this="double(torch.ones(2, 3))")
def check_random(student, rng):
    """Doubles matrices"""
    x = rng.normal(rng.integer(2, 5), 3)
    same_values(student.double(x), x + x)


@check("C1", category="memory", share=1, try_this="x = torch.ones(2); double(x); print(x)")
def check_argument_kept(student, rng):
    """Leaves its argument alone"""
    x = rng.normal(4)
    with unchanged(x):
        student.double(x)


@check("C2", category="dtype", share=1, try_this="double(torch.tensor([1])).dtype")
def check_dtype(student):
    """Keeps integers integers"""
    same_dtype(student.double(torch.tensor([1, 2])), torch.int64)
'''

REFERENCE = '''\
"""The reference of @id@."""

import torch


def double(x: torch.Tensor) -> torch.Tensor:
    """Return 2 x."""
    return 2 * x
'''

RIGHT = '''\
"""Adds it to itself."""


def double(x):
    return x + x
'''

WRONG_ARGUMENT = '''\
"""You changed the argument: `mul_` works in place. Make a new tensor.

caught by: argument_kept
"""


def double(x):
    return x.mul_(2)
'''

WRONG_DTYPE = '''\
"""You made the result a float: a float factor turns integers into floats.

caught by: dtype
"""


def double(x):
    return 2.0 * x
'''
