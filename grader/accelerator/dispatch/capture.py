"""What a graph that is captured must know of an operator before it runs."""

from __future__ import annotations

from typing import Any

from grader.accelerator.schema.facts import Facts, written_by
from grader.accelerator.sim.capture import Capture


def keep_before(capture: Capture, facts: Facts, inner: Any, named: Any) -> None:
    """A graph is recorded of this operator: what it changes is taken back later, and nothing may wait for it."""
    if facts.writes:
        capture.before(written_by(facts, inner, named))
    if facts.syncs_for:
        raise capture.error("Unsupported")
    name = facts.names[facts.generator] if facts.generator >= 0 else ""
    given = named.get(name)
    if given is None and name and name not in facts.keywords and len(inner) > facts.generator:
        given = inner[facts.generator]
    if given is not None:
        capture.draws(given)
