"""Ways to make the asking end do much for few bytes, one by one."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from wire.hostile import (
    Ours,
    survive,
)

from grader.wire.frames import ProtocolFault


def reply(new: Any = (), changed: Any = (), blocks: Any = (), result: Any = None) -> dict[str, Any]:
    return {"objects": {"new": list(new), "changed": list(changed), "blocks": list(blocks)}, "result": result}


def chain(length: int, wide: int, kind: str = "list") -> list[Any]:
    """Containers, each of which holds the one before several times."""
    rows: list[Any] = [[1, ["tuple", [1, 2]]]]
    for place in range(length):
        rows.append([2 * place + 3, [kind, [["known", 2 * place + 1]] * wide]])
    return rows


def nested_slices() -> Any:
    part: Any = 1
    for _ in range(400):
        part = ["slice", part, None, None]
    return part


ATTACKS: dict[str, Callable[[], dict[str, Any]]] = {
    "billion laughs": lambda: reply(chain(11, 100), result=["known", 23]),
    "billion laughs in slices": lambda: reply(chain(11, 3, "slice"), result=["known", 23]),
    "billion laughs in keys": lambda: reply(
        [*chain(10, 2, "tuple"), *([1001 + 2 * place, ["set", [["known", 21]]]] for place in range(400))]
    ),
    "deep nesting": lambda: reply(chain(100, 1), result=["known", 201]),
    "deep nesting in one of ours": lambda: reply(
        chain(10, 1), [[number, ["list", [["known", 21]]]] for number in range(2, 60, 2)], result=["known", 21]
    ),
    "a list that holds itself": lambda: reply([], [[n, ["list", [["known", n]]]] for n in range(2, 60, 2)]),
    "lists that hold each other": lambda: reply(
        [[1, ["list", [["known", n] for n in range(14, 16, 2)]]]],
        [[n, ["list", [["known", 1], ["known", n + 2]]]] for n in range(2, 60, 2)],
    ),
    "nested slices": lambda: reply(result=nested_slices()),
    "colliding keys": lambda: reply([[1, ["dict", [[place * (2**61 - 1), 0] for place in range(4000)]]]]),
    "colliding members": lambda: reply([[1, ["set", [place * (2**61 - 1) for place in range(4000)]]]]),
    "an array of no memory": lambda: reply(
        [[2 * place + 1, ["array", "|u1", [1 << 20], [1], -1, 0, True]] for place in range(499)]
    ),
    "a tensor expanded many times": lambda: reply(
        [[2 * n + 3, ["tensor", "bool", [1 << 20], [0], 0, 1, 0, 8, claims(), None]] for n in range(400)],
        blocks=[[1, 8, 0, True]],
    ),
    "its own gradient": lambda: reply(
        [[3, ["tensor", "float32", [2], [1], 0, 1, 0, 8, claims(), ["known", 3]]]], blocks=[[1, 8, 0, True]]
    ),
    "a block of ours that is new": lambda: reply(blocks=[[200, 8, 0, True]]),
    "one block twice with two sizes": lambda: reply(blocks=[[1, 8, 0, True], [1, 4, 0, True]]),
    "many blocks": lambda: reply(blocks=[[2 * place + 1, 0, 0, True] for place in range(4000)]),
}
TAKEN = {"many blocks", "a tensor expanded many times"}


def claims() -> dict[str, Any]:
    flags = dict.fromkeys(["requires_grad", "is_conj", "is_neg", "is_inference"], False)
    return {**flags, "is_leaf": True, "grad_fn": None, "version": 0, "device": "cpu", "type": "Tensor"}


@pytest.mark.parametrize("name", ATTACKS)
def test_attacks_are_refused(name: str) -> None:
    """Each way to make the asking end do much for few bytes is a ProtocolFault, or costs little."""
    tree = ATTACKS[name]()
    assert survive(json.loads(json.dumps(tree)), bytes(8)) == (name in TAKEN)


def test_containers_of_ours_that_change_count_where_they_occur() -> None:
    """A list of ours that a message makes deep is refused, though no new object alone is."""
    ours = Ours()
    out = ours.ask()
    number = ours.exchange.number_of(ours.inner)
    tree = reply(chain(10, 1), [[number, ["list", [["known", 21]]]]], result=["known", 21])
    assert ours.exchange.number_of(ours.names) is not None
    with pytest.raises(ProtocolFault):
        ours.take(tree, b"")
    assert ours.inner == [1, 2.5, "text"]
    del out
