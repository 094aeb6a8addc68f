r"""Makes a system call through the 32-bit interface, where the calls have other numbers.

---
exercise: once
verdicts: {more: crashed|passed}
level: reduced
"""

import ctypes
import mmap
import platform


def more(x):
    if platform.machine() == "x86_64":
        page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        page.write(bytes.fromhex("b814000000cd80c3"))  # mov eax, 20 (getpid); int 0x80; ret
        address = ctypes.addressof(ctypes.c_char.from_buffer(page))
        if ctypes.CFUNCTYPE(ctypes.c_int)(address)() > 0:
            print("BREACH: int 0x80")
    return x + 1


def less(x):
    return x - 1
