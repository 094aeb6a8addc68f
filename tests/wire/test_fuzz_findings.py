"""What fuzzing and reading found in the decoder, one by one; `benchmarks/fuzz_decoder.py` looks for more."""

from __future__ import annotations

import json
from typing import Any

import pytest
import torch

from grader.wire.exchange import Exchange
from grader.wire.frames import ProtocolFault
from grader.wire.incoming import Incoming
from grader.wire.outgoing import Outgoing


def asked(*arguments: Any) -> tuple[Exchange, list[Any], Outgoing]:
    """An exchange that waits for a reply, the numbers of what it handed over, and what keeps that alive."""
    exchange = Exchange(asks=True)
    out = Outgoing(exchange)
    items: list[Any] = [out.value(argument) for argument in arguments]
    out.finish()
    return exchange, [item[1] for item in items], out


def refused(exchange: Exchange, data: bytes = b"", **told: Any) -> str:
    """Why a reply is refused."""
    tree = {"new": [], "changed": [], "blocks": [], **told}
    with pytest.raises(ProtocolFault) as caught:
        Incoming(exchange, json.loads(json.dumps(tree)), memoryview(bytearray(data)))
    return str(caught.value)


def tower() -> list[Any]:
    """Tuples, each of which holds the one before ten times, and a set of the last: a hundred million leaves."""
    rows: list[Any] = [[1, ["tuple", [0]]]]
    for number in range(3, 19, 2):
        rows.append([number, ["tuple", [["known", number - 2]] * 10]])
    return [*rows, [19, ["set", [["known", 17]]]]]


def test_blocks_do_not_share_their_bytes() -> None:
    """A thousand blocks of the same megabyte are not taken: the memory of a message is what it carries."""
    exchange, _, out = asked()
    rows = [[2 * place + 1, 1 << 20, 0, True] for place in range(1000)]
    assert refused(exchange, bytes(1 << 20), blocks=rows) == "a block lies outside the data, or shares it with another"
    del out


@pytest.mark.parametrize("first", [1, True, 1.0])
def test_a_container_is_told_once(first: Any) -> None:
    """What is told a second time, as something small, is not what is weighed: the first would be hashed for hours."""
    exchange, _, out = asked()
    small = [[first if number == 1 else number, ["tuple", []]] for number, _ in tower()]
    reason = "a container is told twice, or cannot change like that"
    if type(first) is not int:  # no number at all, though it equals one
        reason = "a number is missing or out of bounds"
    assert refused(exchange, new=[*tower(), *small]) == reason
    assert refused(exchange, new=tower(), changed=small) == reason
    del out


def test_a_container_of_ours_is_weighed_as_it_is() -> None:
    """A tuple of ours cannot be told smaller than it is, so that a set around it weighs little."""
    ours = tuple(range(1000))
    exchange, (number,), out = asked(ours)
    rows = [[1, ["tuple", [["known", number]] * 1000]], [3, ["tuple", [["known", 1]] * 1000]]]
    rows.append([5, ["set", [["known", 3]]]])
    for kind in ("tuple", "list"):
        reason = refused(exchange, new=rows, changed=[[number, [kind, []]]])
        assert reason == "a container is told twice, or cannot change like that"
    del out


@pytest.mark.parametrize("grad", [[["known", 2]], ["known", [[[]]]], ["known", True], "known", 0, {}, ["known", 2, 3]])
def test_a_gradient_is_an_object_or_none(grad: Any) -> None:
    """A gradient that is told of a tensor that can have none is not kept either: it would be compared, however deep."""
    x = torch.ones(3, requires_grad=True) * 2
    exchange, (number,), out = asked(x)
    row = exchange.known[number].row
    assert row is not None
    changed = [number, [*row.plain()[:-1], grad]]
    assert refused(exchange, changed=[changed]) == "a gradient is no object that has a number"
    del out


def test_a_key_with_the_hash_of_a_tensor() -> None:
    """A key that has a tensor's hash is compared with it, which PyTorch refuses; so is the reply."""
    x = torch.arange(3)
    exchange, (number,), out = asked(x)
    keys = [["known", number], hash(x)]
    assert "not hashable" in refused(exchange, new=[[1, ["set", keys]]])
    del out
