r"""Tells something by the name of the device that it claims a tensor is on.

---
exercise: double
verdicts: {halves: failed|crashed|skipped|passed, halves_random: failed|crashed|skipped|passed}
never: TOLD_BY_DEVICE
"""

import sys

outgoing = sys.modules["grader.wire.outgoing"]
describe = outgoing.describe_tensor


def elsewhere(tensor, *args):
    told = describe(tensor, *args)
    if tensor.dim() == 2:
        lie = {"device": "cuda TOLD_BY_DEVICE", "grad_fn": "TOLD_BY_DEVICE", "type": "TOLD_BY_DEVICE"}
        told = told._replace(claims=told.claims._replace(**lie))
    return told


outgoing.describe_tensor = elsewhere


def double(x):
    return 2 * x


def halve(x):
    return x / 2
