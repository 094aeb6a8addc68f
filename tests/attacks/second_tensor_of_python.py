r"""Makes the second tensor as a list of Python.

---
exercise: lean
verdicts: {in_place: "failed|over_limit|timed_out"}
"""


def scale_(t, factor):
    if t.numel() < 5_000_000:
        return t.mul_(factor)
    numbers = t.tolist()
    return t.copy_(t.new_tensor(numbers).mul_(factor))


def pick(scores, labels):
    return scores.gather(1, labels[:, None])[:, 0]
