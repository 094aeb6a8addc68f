r"""Opens every device and every file of the kernel that can be written to.

---
exercise: double
shown_output: opened
level: full
"""

import os
from itertools import islice

HARMLESS = ("null", "zero", "full", "random", "urandom")


def try_to_open(path):
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC))
        print("BREACH:", path)
    except OSError:
        pass


for folder, _, names in islice(os.walk("/dev"), 200):
    for name in names:
        if name not in HARMLESS and "watchdog" not in name and not folder.startswith(("/dev/shm", "/dev/fd")):
            try_to_open(os.path.join(folder, name))
for top in ("/sys/fs/cgroup", "/sys/kernel/mm", "/proc/sys/kernel", "/proc/sys/fs", "/proc/sys/net/ipv4"):
    for folder, _, names in islice(os.walk(top), 20):
        for name in names:
            try_to_open(os.path.join(folder, name))
print("opened")


def double(x):
    return 2 * x


def halve(x):
    return x / 2
