"""A function that runs in a forked child, so that a crash in C++ takes no more than that along."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any


def answer_of(ask: Callable[[], Any]) -> tuple[Any, int]:
    """What a function gives in a child, by way of JSON, and the child's exit code; None if it died or raised."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(read)
            with os.fdopen(write, "w", encoding="utf-8") as stream:
                stream.write(json.dumps(ask()))
            # Not `sys.exit`: the clean-up that is due at the end belongs to the parent.
            os._exit(0)
        finally:
            os._exit(1)
    os.close(write)
    with os.fdopen(read, encoding="utf-8") as stream:
        text = stream.read()
    _, status = os.waitpid(child, 0)
    return json.loads(text) if text else None, os.waitstatus_to_exitcode(status)
