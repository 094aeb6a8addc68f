r"""Hands in a virtual environment of twenty thousand files beside the answer.

---
exercise: double
many: {"env/lib/python3.11/site-packages/p{}.py": 20000}
files: {env/pyvenv.cfg: "home = /usr/bin\n", env/bin/activate.py: "print('BREACH')\n"}
"""


def double(x):
    return 2 * x


def halve(x):
    return x / 2
