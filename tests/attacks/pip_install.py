r"""Installs what it needs while it is imported.

---
exercise: double
verdicts: {all: over_limit|error}
message: your double\.py (does not load|started more processes)
level: reduced
"""

import subprocess

subprocess.run(["sh", "-c", "echo BREACH: a program ran"], check=True)
subprocess.run(["pip", "install", "torch"], check=True)


def double(x):
    return 2 * x


def halve(x):
    return x / 2
