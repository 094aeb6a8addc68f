r"""Leaves functions behind that trace and profile every line after it.

---
exercise: double
shown_output: traced
"""

import sys
import threading

SEEN = set()


def trace(frame, event, arg):
    SEEN.add(frame.f_code.co_name)
    for name, value in frame.f_locals.items():
        if "CANARY" in repr(name) or (isinstance(value, str) and "solutions" in value):
            print("BREACH:", frame.f_code.co_name, name)
    return trace


def double(x):
    print("traced")
    sys.settrace(trace)
    sys.setprofile(trace)
    threading.settrace(trace)
    return 2 * x


def halve(x):
    return x / 2
