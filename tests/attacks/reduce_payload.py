r"""Returns and raises objects that run code when they are unpickled.

---
exercise: tables
verdicts: {words: failed|skipped, more_words: failed|skipped, shouts: crashed, shouts_more: crashed}
"""

import os


class Payload:
    def __reduce__(self):
        return os.system, ("touch /tmp/wall_marker_reduce",)

    __reduce_ex__ = __reduce__


class Trap(ValueError):
    def __reduce__(self):
        return os.system, ("touch /tmp/wall_marker_reduce",)

    __getstate__ = __reduce__


def count(text):
    return Payload()


def shout(text):
    raise Trap(Payload(), text) from Trap()
