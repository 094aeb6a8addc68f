r"""Starts other programs in every possible way.

---
exercise: once
shown_output: tried
level: full
"""

import ctypes
import os
import sys

PROGRAMS = ("/bin/true", "/usr/bin/true", sys.executable)


def tries(what, call):
    child = os.fork()
    if child == 0:
        try:
            call()
        except OSError:
            pass
        finally:
            os._exit(17)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 17:
        print("BREACH:", what)


def loader():
    for name in ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"):
        if os.path.exists(name):
            os.execv(name, [name, "/bin/true"])


# ends with status 42: what is left of a program without any file of its own
TINY = bytes.fromhex(
    "7f454c4602010100000000000000000002003e0001000000780040000000000040000000000000000000000000000000"
    "0000000040003800010000000000000001000000050000000000000000000000000040000000000000004000000000008400"
    "00000000000084000000000000000010000000000000bf2a000000b83c0000000f05"
)


def in_memory():
    descriptor = os.memfd_create("tiny")
    os.write(descriptor, TINY)
    os.execve(descriptor, ["tiny"], {})


def in_folder():
    with open("tiny", "wb") as file:
        file.write(TINY)
    os.chmod("tiny", 0o700)
    os.execv("./tiny", ["tiny"])


for program in PROGRAMS:
    tries(program, lambda program=program: os.execv(program, [program, "-c", "import os; os._exit(0)"]))
tries("the dynamic loader", loader)
tries("memory", in_memory)
tries("a file of its own", in_folder)
tries("system", lambda: os._exit(os.waitstatus_to_exitcode(ctypes.CDLL(None).system(b"exit 3")) and 17))
try:
    os.posix_spawn("/bin/true", ["true"], {})
    print("BREACH: posix_spawn")
except OSError:
    pass
print("tried")


def more(x):
    return x + 1


def less(x):
    return x - 1
