"""Copies, as a reference is given."""

from __future__ import annotations

import torch
from wire.pair import linked

from grader.wire.decode import copies


def test_copies_share_as_the_values_do() -> None:
    """Copies keep identity and sharing among themselves and have nothing in common with the values."""
    x = torch.arange(4.0)
    one, other, box = copies(x, x[1:], [x, x.numpy()])
    assert box[0] is one
    assert linked(one, other)
    assert linked(box[1], one)
    assert x.tolist() == [0, 1, 2, 3]


def test_copies_of_what_cannot_be_sent() -> None:
    """An object that is no value stays itself."""
    thing = object()
    box, same_thing = copies([thing], thing)
    assert box[0] is same_thing is thing
