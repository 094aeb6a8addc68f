r"""Writes to the terminal by every way around sys.stdout.

---
exercise: double
shown_output: by descriptor
"""

import fcntl
import os
import termios

os.write(1, b"by descriptor\n")
os.write(2, b"by another\n")
for path in ("/dev/tty", "/dev/console", "/dev/tty0", "/dev/pts/0", "/dev/ptmx"):
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_NOCTTY)
    except OSError:
        continue
    if path == "/dev/tty" and os.isatty(descriptor):
        print("BREACH:", path)
    os.close(descriptor)
for descriptor in (0, 1, 2):
    try:
        fcntl.ioctl(descriptor, termios.TIOCSTI, b"x")
        print("BREACH: TIOCSTI on", descriptor)
    except OSError:
        continue


def double(x):
    return 2 * x


def halve(x):
    return x / 2
