"""A message of ours to another process of ours, as one datagram of a Unix socket, or as an argument of a command.

No student code has run yet in the sender.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from grader.sandbox.trees import receive_tree, send_tree


@dataclass(frozen=True)
class Message:
    """A message between two of our processes, which is sent with the name of its class.

    Attributes:
        PARTS: its attributes that are records themselves, with what makes each.
    """

    PARTS: ClassVar[Mapping[str, Callable[..., Any]]] = {}


def to_tree(message: Message) -> dict[str, Any]:
    """Return a message as a tree of JSON, with the name of its class.

    `Refused("no memory")` becomes `{"Refused": {"why": "no memory"}}`.
    """
    return {type(message).__name__: asdict(message)}


def from_tree(tree: Mapping[str, Any]) -> Message:
    """Return the message of a tree that `to_tree` made.

    `{"Refused": {"why": "no memory"}}` becomes `Refused("no memory")`.

    Raises:
        ValueError: the message is of another version: its class or its fields are unknown.
    """
    ((name, fields),) = tree.items()
    kinds = {kind.__name__: kind for kind in Message.__subclasses__()}
    try:
        message: Message = _make_record(kinds[name], fields)
    except (KeyError, TypeError) as error:
        raise ValueError(f"the message {name} is of another version of the grader") from error
    return message


def _make_record(kind: Callable[..., Any], fields: Mapping[str, Any]) -> Any:
    """Make a record of a class from its fields in JSON.

    Lists become tuples, and the fields in `PARTS` become records. For `LaunchPlan`, the list in `command` becomes a
    tuple, and the dict in `view` becomes a `FileView`.
    """
    # JSON has no tuples, and no records in records.
    tuples = {key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()}
    parts: Mapping[str, Callable[..., Any]] = getattr(kind, "PARTS", {})
    return kind(**tuples | {key: _make_record(part, fields[key]) for key, part in parts.items()})


def to_text(message: Message) -> str:
    """Return a message as JSON text, for an argument of a command.

    `Refused("no memory")` becomes the text `{"Refused": {"why": "no memory"}}`.
    """
    return json.dumps(to_tree(message))


def from_text(text: str | bytes) -> Message:
    """Return the message of a JSON text that `to_text` made."""
    return from_tree(json.loads(text))


def send(sock: socket.socket, message: Message, descriptors: Sequence[int] = ()) -> None:
    """Send a message as one datagram.

    Args:
        sock: a socket of datagrams.
        message: the message that is sent.
        descriptors: the descriptors that go with it.
    """
    send_tree(sock, to_tree(message), descriptors)


def receive(sock: socket.socket) -> tuple[Message | None, list[int]]:
    """Receive one message, with its descriptors; return None if the other end is closed.

    Raises:
        TimeoutError: the socket has a timeout, and nothing came.
    """
    tree, descriptors = receive_tree(sock)
    return (from_tree(tree) if tree else None), descriptors
