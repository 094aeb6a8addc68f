"""A check and its worker in one process."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from grader.wire.exchange import Exchange, HandleClaims, Remote
from grader.wire.frames import Caps
from grader.wire.incoming import Incoming
from grader.wire.outgoing import Outgoing


class Handle(Remote):
    """What stands on the asking side for an object of the worker's."""

    def __init__(self, number: int, claims: HandleClaims) -> None:
        self.wire_name = ["known", number]
        self.claims = claims


class Pair:
    """A check and its worker in one process: each call is a message there and a message back."""

    def __init__(self, caps: Caps | None = None) -> None:
        self.asks = Exchange(asks=True, caps=caps, make_handle=Handle)
        self.answers = Exchange(asks=False, caps=caps, find=lambda space, name: f"{space}.{name}")

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Let the worker call a function of its own with our arguments."""
        out = Outgoing(self.asks)
        items = [out.value(arg) for arg in args]
        told, data = travel(*out.finish(), items)
        try:
            incoming = Incoming(self.answers, told["objects"], data)
            reply = Outgoing(self.answers)
            item = reply.value(function(*[incoming.value(item) for item in told["values"]]))
            told, data = travel(*reply.finish(), [item])
        finally:
            self.answers.end_call()
        try:
            incoming = Incoming(self.asks, told["objects"], data)
            return incoming.value(told["values"][0])
        finally:
            self.asks.end_call()


def travel(told: dict[str, Any], data: list[bytes], values: list[Any]) -> tuple[dict[str, Any], memoryview]:
    text = json.dumps({"objects": told, "values": values}).encode("ascii")
    return json.loads(text), memoryview(bytearray().join(data))
