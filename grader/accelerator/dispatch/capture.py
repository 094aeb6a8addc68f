"""What a graph that is captured must know of an operator before it runs."""

from __future__ import annotations

from grader.accelerator.dispatch.record import Dispatch
from grader.accelerator.schema.facts import written_by
from grader.accelerator.sim.capture import Capture


def prepare_for_capture(capture: Capture, call: Dispatch) -> None:
    """Save the tensors that an operator will write to, for a graph capture; raise if the host would wait for it."""
    facts, inner = call.facts, call.inner
    if facts.writes:
        capture.save_before_write(written_by(facts, inner, call.named))
    if facts.syncs_for:
        raise capture.error("Unsupported")
    name = facts.names[facts.generator] if facts.generator >= 0 else ""
    given = call.named.get(name)
    if given is None and name and name not in facts.keywords and len(inner) > facts.generator:
        given = inner[facts.generator]
    if given is not None:
        capture.check_generator(given)
