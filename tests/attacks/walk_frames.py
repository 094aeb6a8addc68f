r"""Looks at the frames that called it, and at what they hold.

---
exercise: double
shown_output: \d frames
"""

import inspect
import sys

WORDS = ("CANARY", "solutions", "check_double", "halves_random", "Doubles three")


def look():
    frame, depth = sys._getframe(2), 0
    while frame is not None:
        for name, value in {**frame.f_locals, **frame.f_globals}.items():
            text = f"{name} {value!r}"[:100_000]
            if name != "WORDS" and not name.startswith("__") and any(word in text for word in WORDS):
                print("BREACH:", frame.f_code.co_name, name)
        frame, depth = frame.f_back, depth + 1
    print(depth, "frames;", len(inspect.stack()))


def double(x):
    look()
    return 2 * x


def halve(x):
    return x / 2
