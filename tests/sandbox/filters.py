"""Builds the system-call filters of the package from their rules, with pyseccomp (of the extra `dev`).

`python tests/sandbox/filters.py` writes them; a test compares.
"""

from __future__ import annotations

import errno
import struct
import tempfile
from pathlib import Path

from grader.sandbox.seccomp import FILTERS, RULES

ARCHITECTURES = {"x86_64": "X86_64", "aarch64": "AARCH64"}

NEWEST_CALL = 456
"""Numbers above belong to kernels that are newer than the rules: the filters say that there is no such call."""

UNKNOWN = -1
"""What libseccomp says of a name that it has never heard; of one that this architecture lacks it says less."""

NOT_YET = {"open_tree_attr", "statmount", "listmount", "lsm_set_self_attr", "setxattrat", "removexattrat"}
"""Refused by their numbers alone, which lie above `NEWEST_CALL`; libseccomp may not know them yet."""


def build(name: str, architecture: str) -> bytes:
    """One filter, as an array of `struct sock_filter`. Needs pyseccomp and libseccomp.

    Args:
        name: of `RULES`.
        architecture: of `ARCHITECTURES`.

    Raises:
        ValueError: libseccomp is older than a call that is to be refused.
    """
    import pyseccomp as seccomp

    machine = getattr(seccomp.Arch, ARCHITECTURES[architecture])
    rules = seccomp.SyscallFilter(seccomp.ALLOW)
    if machine != seccomp.system_arch():
        rules.add_arch(machine)
        rules.remove_arch(seccomp.system_arch())
    # A processor of 64 bits also takes calls of 32, under other numbers, which these rules do not mean.
    rules.set_attr(seccomp.Attr.ACT_BADARCH, seccomp.KILL_PROCESS)
    for number, call, conditions in RULES[name]():
        known = seccomp.resolve_syscall(machine, call)
        if known == UNKNOWN and call not in NOT_YET:  # left out in silence, it would be let through
            raise ValueError(f"this libseccomp does not know {call}; build the filters with a later one")
        if known < 0:  # this architecture has no such call
            continue
        args = [seccomp.Arg(arg, getattr(seccomp, how), *values) for arg, how, *values in conditions]
        rules.add_rule_exactly(seccomp.ERRNO(number), seccomp.resolve_syscall(seccomp.system_arch(), call), *args)
    with tempfile.TemporaryFile() as file:
        rules.export_bpf(file)
        file.seek(0)
        return _refuse_newer_calls() + file.read()


def _refuse_newer_calls() -> bytes:
    def instruction(code: int, if_true: int, if_false: int, value: int) -> bytes:
        return struct.pack("HBBI", code, if_true, if_false, value)

    load_number, jump_if_greater, give = 0x20, 0x25, 0x06
    return (
        instruction(load_number, 0, 0, 0)
        + instruction(jump_if_greater, 0, 1, NEWEST_CALL)
        + instruction(give, 0, 0, 0x00050000 | errno.ENOSYS)
    )


def files() -> dict[Path, tuple[str, str]]:
    """The path of every filter, with what builds it."""
    return {
        FILTERS / f"{name}.{architecture}.bpf": (name, architecture) for name in RULES for architecture in ARCHITECTURES
    }


def main() -> None:
    """Write all filters."""
    FILTERS.mkdir(exist_ok=True)
    for path, what in files().items():
        path.write_bytes(build(*what))


if __name__ == "__main__":
    main()
