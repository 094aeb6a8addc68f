"""The tree of a frame: plain data, written as JSON. Standard library only."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

from grader.wire.bounds import Caps, ProtocolFault, Unsupported

Plain: TypeAlias = "bool | int | float | str | list[Plain] | dict[str, Plain] | None"
"""What JSON can say."""

_ENCODER = json.JSONEncoder(separators=(",", ":"))
_DECODER = json.JSONDecoder()


def write_tree(tree: Mapping[str, object], caps: Caps) -> bytes:
    """The tree of a frame as bytes.

    Raises:
        Unsupported: it is more than the other side would take.
    """
    text = _ENCODER.encode(tree).encode("ascii")
    check_tree(text, caps)
    return text


def check_tree(text: bytes, caps: Caps) -> None:
    """Refuse a tree of ours that the other side would refuse.

    Raises:
        Unsupported: it is too long or has too many parts.
    """
    if len(text) > caps.tree_bytes or _parts(text) > caps.tree_nodes:
        raise Unsupported(f"the values are too large to hand over ({len(text) / 2**20:.0f} MB, {_parts(text)} parts)")


def parse_tree(text: bytes, caps: Caps) -> dict[str, Any]:
    """Read the tree of a frame.

    Raises:
        ProtocolFault: it is not JSON, not an object, or has too many nodes.
    """
    # Counted before it is parsed: every two bytes of text may become an object of Python's.
    if _parts(text) > caps.tree_nodes:
        raise ProtocolFault("a message has too many parts")
    try:
        tree = _DECODER.decode(text.decode("utf-8"))
    except (ValueError, RecursionError):
        raise ProtocolFault("a message is not valid JSON") from None
    if not isinstance(tree, dict):
        raise ProtocolFault("a message is not an object")
    return tree


def _parts(text: bytes) -> int:
    """How many values are in it at most: each stands behind a comma or a bracket, and strings may have some, too."""
    return text.count(b",") + text.count(b"[") + text.count(b"{")
