r"""Passes bits to other workers through what the kernel keeps of packages' files: pages, names, watches.

---
exercise: double
shown_output: asked
level: reduced
"""

import ctypes
import errno
import mmap
import os
import platform

LIBC = ctypes.CDLL(None, use_errno=True)
SHARED = os.__file__
ARM = platform.machine() == "aarch64"
PAGE = mmap.PAGESIZE
MADV_COLD, MADV_PAGEOUT, MADV_COLLAPSE = 20, 21, 25
RWF_NOWAIT, RWF_DONTCACHE = 0x8, 0x80
RESOLVE_CACHED = 0x20
F_NOTIFY, DN_ACCESS, F_SETLEASE, F_RDLCK = 1026, 1, 1024, 0


def call(number, *args):
    ctypes.set_errno(0)
    plain = [ctypes.c_long(arg) if isinstance(arg, int) else arg for arg in args]
    return LIBC.syscall(ctypes.c_long(number), *plain)


def let_through(what, number, *args):
    """Say so if a call was not refused: whatever else it met, it got as far as the kernel."""
    refused = (errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP)
    if call(number, *args) >= 0 or ctypes.get_errno() not in refused:
        print("BREACH:", what, ctypes.get_errno())


def ask():
    file = os.open(SHARED, os.O_RDONLY)
    folder = os.open(os.path.dirname(SHARED), os.O_RDONLY)
    pages = LIBC.mmap
    pages.restype = ctypes.c_void_p
    mapped = pages(None, ctypes.c_size_t(4 * PAGE), mmap.PROT_READ, mmap.MAP_SHARED, file, ctypes.c_long(0))
    told = ctypes.create_string_buffer(64)
    into = ctypes.create_string_buffer(PAGE)
    vector = (ctypes.c_size_t * 2)(ctypes.addressof(into), PAGE)
    part = (ctypes.c_uint64 * 2)(0, 4 * PAGE)
    how = (ctypes.c_uint64 * 3)(os.O_RDONLY, 0, RESOLVE_CACHED)

    for advice in range(6):
        let_through(f"posix_fadvise {advice}", 223 if ARM else 221, file, 0, PAGE, advice)
    let_through("readahead", 213 if ARM else 187, file, 0, PAGE)
    let_through("mincore", 232 if ARM else 27, mapped, 4 * PAGE, told)
    let_through("cachestat", 451, file, part, told, 0)
    for advice in (MADV_COLD, MADV_PAGEOUT, MADV_COLLAPSE, MADV_PAGEOUT | 1 << 32):
        let_through(f"madvise {advice}", 233 if ARM else 28, mapped, 4 * PAGE, advice)
    for flags in (RWF_NOWAIT, RWF_DONTCACHE, RWF_NOWAIT | 1 << 32):
        let_through(f"preadv2 {flags}", 286 if ARM else 327, file, vector, 1, 0, 0, flags)
    let_through("pwritev2 with a flag", 287 if ARM else 328, 1, vector, 0, 0, 0, 0x2)
    let_through("io_setup", 0 if ARM else 206, 1, told)
    let_through("openat2", 437, -100, b"/", how, 24)
    let_through("inotify_init1", 26 if ARM else 294, 0)
    if not ARM:
        let_through("inotify_init", 253)
    for command, value in ((F_NOTIFY, DN_ACCESS), (F_SETLEASE, F_RDLCK), (F_NOTIFY | 1 << 32, DN_ACCESS)):
        let_through(f"fcntl {command}", 25 if ARM else 72, folder, command, value)


ask()
print("asked")


def double(x):
    return 2 * x


def halve(x):
    return x / 2
