r"""Tells something by the name of the device that it claims a tensor is on.

---
exercise: double
verdicts: {halves: failed|crashed|skipped|passed, halves_random: failed|crashed|skipped|passed}
never: TOLD_BY_DEVICE
"""

import sys

encoder = sys.modules["grader.wire.encode"].Encoder
describe = encoder._tensor_row


def elsewhere(self, *args):
    row = describe(self, *args)
    lie = {"device": "cuda TOLD_BY_DEVICE", "grad_fn": "TOLD_BY_DEVICE", "is_leaf": False, "requires_grad": True}
    return [*row[:9], lie] if len(row[2]) == 2 else row


encoder._tensor_row = elsewhere


def double(x):
    return 2 * x


def halve(x):
    return x / 2
