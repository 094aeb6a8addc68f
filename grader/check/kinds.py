"""What kind of thing a value is. Besides, `require`, with which a check says anything else.

Each failure has two texts: the property that does not hold, which may be told of a hidden input, and the whole story
with numbers, for shown checks and for staff.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from grader.check import show
from grader.connection.connection import is_proxy, kind_of, named, place_of, word_of
from grader.model.endings import CheckFailed
from grader.model.public import say


def require(condition: Any, public: str, story: str = "") -> None:
    """Fail unless a condition holds.

    Args:
        condition: anything that is true or false.
        public: what is wrong, in the student's words; must not tell a hidden input or its expected value.
        story: the same with numbers, for shown checks and staff.
    """
    if not condition:
        raise CheckFailed(public, story)


def is_kind(fits: bool, yours: Any, asked: str, what: str) -> None:
    """Fail unless a value is of a kind.

    Args:
        fits: whether it is.
        yours: the value.
        asked: the kind, in words.
        what: its name in messages.
    """
    if not fits:
        public = say("{} is {}, {} is asked", what, show.kind(yours, public=True), asked)
        raise CheckFailed(public, f"{what} is {show.kind(yours)}, {asked} is asked", about="kind")


def is_tensor(yours: Any, what: str = "the result") -> None:
    """The value is a tensor."""
    is_kind(isinstance(yours, torch.Tensor), yours, "a tensor", what)


def is_array(yours: Any, what: str = "the result") -> None:
    """The value is a NumPy array."""
    is_kind(isinstance(yours, np.ndarray), yours, "a NumPy array", what)


def is_instance(yours: Any, kind: Any, what: str = "the result") -> None:
    """The value is of a type: a plain one, one of PyTorch's, or a class of the student's; bool is no int here."""
    is_kind(is_of(yours, kind), yours, show.with_article(word_of(kind) if is_proxy(kind) else kind.__name__), what)


def is_of(yours: Any, kind: Any) -> bool:
    """Whether a value is of a type. What stays in a worker is examined there, and its answer is untrusted."""
    if is_proxy(yours):
        known = kind if is_proxy(kind) else f"{kind.__module__}.{kind.__qualname__}"
        connection = place_of(yours).connection
        return connection.call(named(connection, "is_instance", ""), (yours, known), {}, yours) is True
    # In Python True is an int; an exercise that asks for a number does not mean that.
    return not is_proxy(kind) and isinstance(yours, kind) and not (kind is int and isinstance(yours, bool))


def has_shape(yours: Any, what: str) -> None:
    """The value has a shape and a dtype: it is a tensor, an array or a NumPy number."""
    is_kind(hasattr(type(yours), "shape") and hasattr(type(yours), "dtype"), yours, "a tensor", what)


def kind(value: Any) -> str:
    """What a value is, in words for a message: "a tensor", "an int", "None (is a `return` missing?)"."""
    return show.kind(value, public=True)


def pair(head: str, asked: Any, yours: Any, first: str = "asked", second: str = "yours") -> str:
    """A head, and below it what is asked and what is there."""
    width = max(len(first), len(second)) + 2
    return f"{head}\n{first:<{width}}{asked}\n{second:<{width}}{yours}"


def said_by(story: str) -> str:
    """What a pair says below its head, which a picture says as well."""
    return story.partition("\n")[2]


def type_name(value: Any) -> str:
    """The class name of an object that stays in a worker, as the worker says; of anything else, its own."""
    return kind_of(value) if is_proxy(value) else type(value).__name__
