r"""Makes forbidden system calls directly, by their numbers.

---
exercise: double
shown_output: asked
level: full
"""

import ctypes
import os
import platform

LIBC = ctypes.CDLL(None, use_errno=True)
X86 = {
    "unshare user": (272, 0x10000000),
    "unshare mount": (272, 0x20000),
    "unshare net": (272, 0x40000000),
    "unshare pid": (272, 0x20000000),
    "mount": (165, b"none", b"/tmp", b"tmpfs", 0, 0),
    "bind mount": (165, b"/", b"/tmp", 0, 4096, 0),
    "umount": (166, b"/tmp", 2),
    "pivot_root": (155, b"/tmp", b"/tmp"),
    "chroot": (161, b"/tmp"),
    "ptrace traceme": (101, 0, 0, 0, 0),
    "ptrace attach 1": (101, 16, 1, 0, 0),
    "process_vm_readv": (310, 1, 0, 0, 0, 0, 0),
    "perf_event_open": (298, bytes(128), 0, -1, -1, 0),
    "bpf": (321, 0, bytes([1, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0]) + bytes(100), 116),
    "userfaultfd": (323, 0),
    "userfaultfd user mode": (323, 1),
    "io_uring_setup": (425, 4, ctypes.create_string_buffer(120)),
    "add_key": (248, b"user", b"wall_marker", b"x", 1, -3),
    "keyctl": (250, 0, -3, 1),
    "init_module": (175, b"x" * 64, 64, b""),
    "kexec_load": (246, 0, 0, 0, 0),
    "open_by_handle_at": (304, -100, bytes(136), 0),
    "name_to_handle_at": (303, -100, b"/", bytes([128, 0, 0, 0]) + bytes(132), ctypes.create_string_buffer(8), 0),
    "fsopen": (430, b"tmpfs", 0),
    "open_tree": (428, -100, b"/", 1),
    "move_mount": (429, -100, b"/tmp", -100, b"/tmp", 0),
    "mount_setattr": (442, -100, b"/", 0, bytes(32), 32),
    "fanotify_init": (300, 0, 0),
    "swapon": (167, b"/wall_marker", 0),
    "sethostname": (170, b"wall", 4),
    "setdomainname": (171, b"wall", 4),
    "acct": (163, b"/tmp/wall_marker"),
    "syslog": (103, 3, ctypes.create_string_buffer(64), 64),
    "iopl": (172, 3),
    "ioperm": (173, 0x80, 1, 1),
    "clone3 new user": (435, (0x10000000).to_bytes(8, "little") + bytes(80), 88),
    "setns": (308, 0, 0),
    "kcmp": (312, 1, 1, 0, 0, 0),
    "lookup_dcookie": (212, 0, 0, 0),
    "quotactl": (179, 0, 0, 0, 0),
    "vhangup": (153,),
    "mknod": (133, b"wall_marker_node", 0o20666, (1 << 8) | 5),
    "seccomp notify": (317, 1, 8, bytes(16)),
    "setuid 0": (105, 0) if os.getuid() else (-1,),
    "x32 getpid": (39 | 0x40000000,),
    "memfd_secret": (447, 0),
    "shmget": (29, 0x57A1102, 4096, 0o1666),
    "socket packet": (41, 17, 3, 0x300),
    "socket vsock": (41, 40, 1, 0),
    "socket alg": (41, 38, 5, 0),
    "reboot without magic": (169, 0, 0, 0, 0),
}


def ask():
    if platform.machine() != "x86_64":
        return
    for name, (number, *args) in X86.items():
        plain = [ctypes.c_long(arg) if isinstance(arg, int) else arg for arg in args]
        ctypes.set_errno(0)
        if LIBC.syscall(ctypes.c_long(number), *plain) >= 0:
            print("BREACH:", name)
            if name.startswith("clone3") and os.getppid() != PARENT:
                os._exit(0)


PARENT = os.getppid()
ask()
print("asked")


def double(x):
    return 2 * x


def halve(x):
    return x / 2
