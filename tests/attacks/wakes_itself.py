r"""Has timers wake it up by SIGCONT, so that it goes on while it is stopped for the time of others.

---
exercise: double
shown_output: tried
level: reduced
"""

import ctypes
import signal


class Event(ctypes.Structure):
    _fields_ = (
        ("value", ctypes.c_void_p),
        ("signal", ctypes.c_int),
        ("notify", ctypes.c_int),
        ("pad", ctypes.c_byte * 48),
    )


signal.signal(signal.SIGCONT, lambda *_: None)  # a timer whose signal is ignored rests
LIBC = ctypes.CDLL(None, use_errno=True)
for clock in (0, 1, 2, 7):
    event, timer = Event(signal=signal.SIGCONT), ctypes.c_void_p()
    if LIBC.timer_create(clock, ctypes.byref(event), ctypes.byref(timer)) == 0:
        times = (ctypes.c_long * 4)(0, 1_000_000, 0, 1_000_000)
        LIBC.timer_settime(timer, 0, times, None)
        print("BREACH: a timer of the clock", clock)
print("tried")


def double(x):
    return 2 * x


def halve(x):
    return x / 2
