"""The answer to several calls, as it arrives: a claim."""

from __future__ import annotations

from typing import Any

import pytest

from grader.wire.bounds import ProtocolFault
from grader.wire.requests import Replies


def test_each_reply_has_its_part_of_the_data() -> None:
    """The data are divided as the sizes say; a single reply has all of them."""
    one, two = {"result": 1}, {"result": 2}
    assert Replies.parts({"replies": [one, two], "sizes": [3, 0]}, 3) == [(one, 0, 3), (two, 3, 3)]
    assert Replies.parts(one, 7) == [(one, 0, 7)]


@pytest.mark.parametrize(
    "tree",
    [
        {"replies": []},
        {"replies": [], "sizes": []},
        {"replies": [{}], "sizes": [1]},
        {"replies": [{}, {}], "sizes": [3]},
        {"replies": [{}, {}], "sizes": [4, -1]},
        {"replies": [{}, {}], "sizes": [True, 2]},
        {"replies": [1], "sizes": [3]},
    ],
)
def test_what_is_described_wrongly(tree: dict[str, Any]) -> None:
    """Sizes are whole, one for each reply, and make up the data."""
    with pytest.raises(ProtocolFault):
        Replies.parts(tree, 3)
