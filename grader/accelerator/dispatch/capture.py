"""The steps of graph capture that come before an operator runs."""

from __future__ import annotations

from grader.accelerator.dispatch.record import Dispatch
from grader.accelerator.schema.facts import written_by
from grader.accelerator.sim.capture import Capture


def prepare_for_capture(capture: Capture, call: Dispatch) -> None:
    """Save the tensors that an operator is about to write to, for `Capture.restore`.

    Raises:
        RuntimeError: the operator makes the host wait, or draws from a generator that is not registered with the graph.
    """
    facts, inner = call.facts, call.inner
    if facts.writes:
        capture.save_before_write(written_by(facts, inner, call.named))
    if facts.syncs_for:
        raise capture.invalidate("Unsupported")
    name = facts.names[facts.generator] if facts.generator >= 0 else ""
    given = call.named.get(name)
    if given is None and name and name not in facts.keywords and len(inner) > facts.generator:
        given = inner[facts.generator]
    if given is not None:
        capture.check_generator(given)
