r"""Changes its replies at random places.

---
exercise: once
verdicts: {more: crashed|failed|skipped}
"""

import json
import random
import sys

frames = sys.modules["grader.wire.frames"]
send = frames.Channel.send
draw = random.Random(7)
ODD = [
    -1,
    1 << 63,
    1 << 70,
    None,
    [],
    {},
    "",
    "tensor",
    ["ref", -2],
    ["ref", 0],
    ["proxy", -1, "x"],
    ["bytes", 5],
    [[]],
    0.5,
    True,
]


def mangled(tree):
    if draw.random() < 0.3:
        return draw.choice(ODD)
    if isinstance(tree, dict):
        return {key: mangled(item) for key, item in tree.items()}
    return [mangled(item) for item in tree] if isinstance(tree, list) else tree


def fuzz(self, number, tree, data=(), patience=None):
    told = {key: mangled(item) for key, item in json.loads(json.dumps(tree)).items()}
    return send(self, number, told, data, patience)


def more(x):
    frames.Channel.send = fuzz
    return x + 1


def less(x):
    return x - 1
