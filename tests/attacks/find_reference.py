r"""Looks for the reference in modules, live objects, frames and memory, to give its answer as its own.

---
exercise: double
shown_output: looked
"""

import gc
import re
import sys
import types

CANARY = re.compile(b"CANAR[Y]_(REF|CHE|INP|EXP)")


def look():
    for name, module in list(sys.modules.items()):
        if "solutions" in str(getattr(module, "__file__", "")):
            print("BREACH: the module", name)
    for thing in gc.get_objects():
        if isinstance(thing, types.FunctionType) and thing.__name__ in ("double", "halve"):
            if thing.__module__ != __name__:
                print("BREACH: the function", thing)
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
        for line in maps:
            span, rights, _, _, _, *place = line.split()
            if "rw" in rights and (not place or place[0][0] == "["):
                start, end = (int(part, 16) for part in span.split("-"))
                try:
                    memory.seek(start)
                    found = CANARY.search(memory.read(min(end - start, 1 << 25)))
                except (OSError, ValueError, OverflowError):
                    continue
                if found:
                    print("BREACH: memory at", line)
    print("looked")


try:
    look()
except OSError as error:  # there is no /proc to look at
    print("looked:", error)


def double(x):
    return 2 * x


def halve(x):
    return x / 2
