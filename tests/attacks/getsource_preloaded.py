r"""Reads the source of every module that was imported before it.

---
exercise: double
shown_output: read \d+ modules
"""

import inspect
import linecache
import re
import sys

CANARY = re.compile("CANAR[Y]_")


def look():
    count = 0
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] in ("pytest", "_pytest", "yaml") or name.startswith(
            ("grader.check", "grader.check_process", "grader.connection", "grader.model.messages")
        ):
            print("BREACH: the module", name)
        if name.startswith("grader") and name != "grader":
            count += 1
            try:
                if CANARY.search(inspect.getsource(module)):
                    print("BREACH: the source of", name)
            except (OSError, TypeError):
                continue
    for name, entry in list(linecache.cache.items()):
        if CANARY.search("".join(entry[2]) if len(entry) > 2 else ""):
            print("BREACH: cached lines of", name)
    print("read", count, "modules")


look()


def double(x):
    return 2 * x


def halve(x):
    return x / 2
