r"""Puts keys that are no names into its own globals, and a class that cannot be looked at.

---
exercise: double
"""


class Shy(type):
    def __getattribute__(cls, name):
        raise KeyboardInterrupt(name)

    def __instancecheck__(cls, other):
        raise SystemExit


class Thing(metaclass=Shy):
    pass


globals()[5] = 5
globals()[("a", "b")] = 6
globals()["not a name\n"] = 7
globals().update({f"name_{number}": number for number in range(2000)})


def double(x):
    return 2 * x


def halve(x):
    return x / 2
