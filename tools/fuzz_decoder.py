"""A coverage-guided fuzzer on what the check process decodes: everything that a worker may send.

frames      a stream of bytes, perhaps with a descriptor: header, tree, data; what is a frame goes on to `replies`
replies     a whole reply: blocks, tensors, arrays, proxies, containers, and a value or an exception
layouts     one row of a tensor or an array, over a block of 64 bytes

Seeds are the replies of an honest worker, made here. An input is changed as a tree of JSON two times in three, and as
bytes otherwise. What must hold: either the worker is lost for a `ProtocolError`, or there is a value that is safe to
use. Every tensor and array lies inside its block, all of it can be read, shown and sent again, nothing of ours changed
that the reply did not name, in less than two seconds, and with less than 48 MB where a message may hold one. A finding
is printed once for each place where it shows; its input is kept, and the fuzzer goes on.

It needs atheris, which is no dependency of ours (`pip install atheris`: Linux, Python 3.11 to 3.13).

    python tools/fuzz_decoder.py replies FOLDER -max_total_time=600
    python tools/fuzz_decoder.py replies FOLDER --try FOLDER/findings/*      # once each, with its traceback
"""

from __future__ import annotations

import contextlib
import copy
import json
import os
import random
import resource
import struct
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import atheris
import numpy as np
import pytest  # noqa: F401  before the instrumentation, as everything that is not to be instrumented
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
with atheris.instrument_imports(include=["grader"]):  # only what is imported here: the wire imports nothing else
    from grader.wire.decode import Decoder
    from grader.wire.frames import HEADER, MAGIC, MAPPED, Channel, Frame, ProtocolError
    from grader.wire.table import ObjectTable
    from grader.wire.transport import ChannelClosed, Patience, SocketTransport

from wire.hostile import (
    CAPS,
    EXTREMES,
    MEGABYTES,
    REPLIES,
    Ours,
    ask_again,
    at,
    check_inside,
    honest_reply,
    not_named,
    peak,
    places,
    shown,
    use,
)
from wire.pair import bits

from grader.check.show import show
from grader.connection.connection import Connection, is_proxy
from grader.connection.raised import raised_by_student
from grader.model import Limits
from grader.model.endings import CannotJudge, WorkerLost
from grader.worker_process.process import WorkerProcess
from grader.worker_process.starter import Starter

SECONDS = 2.0
LONGEST = 1 << 15
BLOCK = 64
_RAISED = {
    "type": "ValueError",
    "text": "no",
    "builtin": "ValueError",
    "signature": None,
    "statement": "",
    "lines": [["row_sums.py", 3, "total", "    raise ValueError"]],
}
_MORE_EXTREMES: list[Any] = [
    *(["numpy.scalar", "<f16", "7" * 16], ["numpy.scalar", "<c32", "2" * 32], ["ref", 4], ["ref", 6], "<f16"),
    *(["set", *[["ref", 1]] * 9], ["tuple", *[["ref", 1]] * 9], ["dict", ["ref", 1], 0], "float8_e8m0fnu"),
]


class Harm(Exception):
    """A reply was taken that should not have been."""


class Worker:
    """What a connection needs of its worker when it decodes a reply."""

    channel = SimpleNamespace(caps=CAPS)

    def read_output(self, limit: int) -> str:
        return ""

    def close(self) -> None:
        pass


# --------------------------------------------------------------------------------------------------------- targets


def layouts(text: bytes) -> None:
    """Decode one row that describes an object in a block of memory, and use the object."""
    table = ObjectTable()
    tree = {"roots": [["ref", 0]], "rows": [[0, parsed(text)]], "blocks": [[0, BLOCK]]}
    with contextlib.suppress(ProtocolError):
        (value,) = Decoder(table, refuse, CAPS).decode(tree, memoryview(bytearray(range(BLOCK))))
        if isinstance(value, (torch.Tensor, np.ndarray)):
            check_inside(value, table.blocks)
            bits(value)
            show(value)


def refuse(*child: Any) -> Any:
    raise ProtocolError("no proxies here")


def replies(text: bytes) -> None:
    """Decode a reply, whose tree is the first line of `text` and whose data is the rest, and use its values."""
    text, _, data = text.partition(b"\n")
    tree = parsed(text)
    if isinstance(tree, dict):
        take(tree, data)


def frames(text: bytes) -> None:
    """Read a stream and use its frame; the first three bytes have whether shared memory comes along, and its size."""
    stream = Stream(text[3:], int.from_bytes(text[1:3], "big") if text[:1] == b"\1" else None)
    channel = Channel(stream, CAPS)
    try:
        frame = channel.receive()
        take(frame.tree, bytes(frame.data), frame)
    except (ProtocolError, ChannelClosed):
        pass
    finally:
        channel.close()


TARGETS: dict[str, Callable[[bytes], None]] = {"frames": frames, "replies": replies, "layouts": layouts}


class Stream(SocketTransport):
    """A transport that holds all that will ever come."""

    carries_descriptors = True

    def __init__(self, rest: bytes, shared: int | None) -> None:
        self._rest = memoryview(rest)
        self._descriptor: int | None = None
        if shared is not None:
            self._descriptor = os.memfd_create("shared", os.MFD_CLOEXEC)
            os.truncate(self._descriptor, shared)

    def read_into(self, view: memoryview, patience: Patience | None) -> None:
        del patience
        if len(view) > len(self._rest):
            raise ProtocolError("the stream ends")
        view[:], self._rest = self._rest[: len(view)], self._rest[len(view) :]

    def take_descriptor(self) -> int | None:
        descriptor, self._descriptor = self._descriptor, None
        return descriptor

    def write(self, parts: Sequence[bytes | memoryview], descriptor: int | None, patience: Patience | None) -> None:
        del parts, descriptor, patience

    def close_writing(self) -> None:
        pass

    def close(self) -> None:
        if (descriptor := self.take_descriptor()) is not None:
            os.close(descriptor)


def take(tree: dict[str, Any], data: bytes, frame: Frame | None = None) -> None:
    """Read a reply as a call of a check does, and use its values.

    Raises:
        Harm: the reply changed an argument that it does not name, or memory that is read-only.
    """
    ours = Ours()
    untouched = [(leaf, shown(leaf)) for leaf in not_named(ours, tree)]
    constant = bits(ours.constant)
    connection = Connection(cast(Starter, SimpleNamespace(students=set())), "total", {}, Limits())
    connection.worker = cast(WorkerProcess, Worker())
    ours.values, taken, reply = [], False, frame or Frame(1, tree, memoryview(bytearray(data)))
    try:
        ours.values.append(connection.value_of(reply, "your `total`", "total", ours.table))
        taken = True
    except (CannotJudge, WorkerLost):
        pass
    except Exception as error:
        if raised_by_student(error) is None:
            raise
        str(error)
    if taken:
        use(ours)
        for value in (*ours.values, *ours.arguments):
            show(value)
    for leaf, was in untouched:
        if shown(leaf) != was:
            raise Harm("an argument changed that the reply did not name")
    if bits(ours.constant) != constant:
        raise Harm("memory that is read-only was written")
    ours.values = [value for value in ours.values if not is_proxy(value)]
    if taken:
        ask_again(ours)


# ----------------------------------------------------------------------------------------------------------- seeds


def seeds(target: str) -> Iterator[bytes]:
    """Yield messages of an honest worker, from which inputs are mutated."""
    if target == "layouts":
        for name in ("float32", "bool", "complex64", "float8_e8m0fnu", "int16"):
            yield dumped(["tensor", name, [2, 2], [2, 1], 0, 0, 0, BLOCK, 0])
            yield dumped(["tensor", name, [2, 0], [2, 1], 1, None, 0, 0, 1, {"device": "sim:0"}])
        for name in ("<f8", ">i2", "|b1", "<c16", "<f16"):
            yield dumped(["array", name, [2], [-16], 32, 0, True])
            yield dumped(["array", name, [0, 3], [8, 8], 0, None, False])
        return
    empty: dict[str, Any] = {"roots": [], "rows": [], "blocks": []}
    replies = [(json.loads(text), data) for text, data in map(honest_reply, range(len(REPLIES)))]
    replies.append(({**empty, "error": _RAISED}, b""))
    replies.append(({**empty, "unsupported": "a generator"}, b""))
    first = len(Ours().table.rows)
    names = [first, ["dict", "total", "callable", "SIZE", "value"]]
    replies.append(({**empty, "rows": [names], "roots": [["ref", first]]}, b""))
    for tree, data in replies:
        if target == "replies":
            yield dumped(tree) + b"\n" + data
        else:
            yield framed(dumped(tree), data, shared=False)
            yield framed(dumped(tree), data, shared=True)


def dumped(tree: Any) -> bytes:
    return json.dumps(tree, separators=(",", ":")).encode("ascii")


def parsed(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def framed(text: bytes, data: bytes, *, shared: bool) -> bytes:
    size = len(data) | (MAPPED if shared else 0)
    first = b"\1" + min(len(data), 0xFFFF).to_bytes(2, "big") if shared else b"\0\0\0"
    return first + HEADER.pack(MAGIC, 1, len(text), size) + text + (b"" if shared else data)


# -------------------------------------------------------------------------------------------------------- mutation


def mutate(target: str, told: bytes, longest: int, seed: int) -> bytes:
    """Return a mutated copy of an input."""
    choice = random.Random(seed)
    if choice.random() < 0.34:
        return bytes(atheris.Mutate(told, longest))
    text, data, shared = parts(target, told)
    tree = parsed(text)
    if not isinstance(tree, (dict, list)):
        return bytes(atheris.Mutate(told, longest))
    for _ in range(choice.choice([1, 1, 2, 3, 6])):
        with contextlib.suppress(RecursionError, TypeError, IndexError):  # too deep, or a swap with what a swap moved
            tree = changed_tree(choice, tree)
    if choice.random() < 0.1:
        data = choice.choice([data[: choice.randrange(len(data) + 1)], data + bytes(choice.choice([1, 8, 1000, 9000]))])
    try:
        text = dumped(tree)
    except (ValueError, RecursionError):
        return told
    out = {"layouts": text, "replies": text + b"\n" + data}.get(target) or framed(text, data, shared=shared)
    return out if len(out) <= longest else told


def parts(target: str, told: bytes) -> tuple[bytes, bytes, bool]:
    """Split an input into the tree, the data, and whether the data is shared memory."""
    if target != "frames":
        text, _, data = told.partition(b"\n")
        return text, data, False
    try:
        _, _, size, _ = HEADER.unpack_from(told, 3)
    except struct.error:
        return b"", b"", False
    start = 3 + HEADER.size
    return told[start : start + size], told[start + size :], told[:1] == b"\1"


def changed_tree(choice: random.Random, tree: Any) -> Any:
    """Return a tree with one value replaced, removed, repeated, nested, or exchanged for another."""
    paths = [path for path in places(tree) if path]
    if not paths:
        return tree
    path, other = choice.choice(paths), choice.choice(paths)
    parent, key = at(tree, path[:-1]), path[-1]
    value = parent[key]
    kind = choice.choice(
        ["set", "set", "near", "near", "copy", "remove", "double", "double", "swap", "cut", "nest", "many"]
    )
    if kind == "near" and type(value) is int:
        parent[key] = value + choice.randint(-9, 9)
    elif kind == "copy":
        parent[key] = copy.deepcopy(at(tree, other))
    elif kind == "remove":
        del parent[key]
    elif kind in ("double", "many") and isinstance(parent, list):
        for place in range(1 if kind == "double" else choice.choice([3, 3, 30, 30, 300, 2000])):
            row = copy.deepcopy(value)
            if kind == "many" and isinstance(row, list) and row and type(row[0]) is int:
                row[0] += 2 * place + 2
            parent.insert(key + 1 + place if kind == "many" else choice.randrange(len(parent) + 1), row)
    elif kind == "swap" and other[: len(path)] != path and path[: len(other)] != other:
        parent[key], at(tree, other[:-1])[other[-1]] = at(tree, other), value
    elif kind == "cut" and isinstance(value, list):
        del value[choice.randrange(4) :]
    elif kind == "nest":
        for _ in range(choice.choice([1, 2, 20, 900, 970])):
            parent[key] = choice.choice([[parent[key]], ["list", parent[key]], ["ref", parent[key]]])
    else:
        parent[key] = copy.deepcopy(choice.choice(EXTREMES + _MORE_EXTREMES))
    return tree


# --------------------------------------------------------------------------------------------------------- running


class Watch:
    """Runs inputs, and tells each finding once."""

    def __init__(self, target: str, folder: Path) -> None:
        self._run = TARGETS[target]
        self._name = target
        self._folder = folder
        self._told: set[Any] = set()

    def __call__(self, told: bytes) -> None:
        started, memory = time.process_time(), peak()
        try:
            self._run(told)
            if (seconds := time.process_time() - started) > SECONDS:
                raise Harm(f"{seconds:.1f} seconds")
            if (more := peak() - memory) > MEGABYTES:
                raise Harm(f"{more} MB more")
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            self._tell(told, error)

    def _tell(self, told: bytes, error: BaseException) -> None:
        last = traceback.extract_tb(error.__traceback__)[-1]
        kind = type(error).__name__
        where = (kind, last.filename, last.lineno)
        if where in self._told:
            return
        self._told.add(where)
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"{self._name}-{kind}-{Path(last.filename).stem}-{last.lineno}"
        path.write_bytes(told)
        print(f"FINDING {path.name}: {kind}: {str(error)[:200]}", file=sys.stderr, flush=True)


def main() -> None:
    if len(sys.argv) < 3 or sys.argv[1] not in TARGETS:
        sys.exit(__doc__)
    target, folder = sys.argv[1], Path(sys.argv[2])
    torch.set_num_threads(1)
    if "--try" in sys.argv:
        for path in sys.argv[sys.argv.index("--try") + 1 :]:
            print(path)
            started, memory = time.process_time(), peak()
            try:
                TARGETS[target](Path(path).read_bytes())
            except BaseException:
                traceback.print_exc()
            print(f"{time.process_time() - started:.2f} s, {peak() - memory} MB more")
        return
    corpus = folder / f"corpus-{target}"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds(target)):
        (corpus / f"seed-{number:02}").write_bytes(seed)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    options = [f"-max_len={LONGEST}", "-timeout=60", "-rss_limit_mb=4096", "-print_final_stats=1", *sys.argv[3:]]
    atheris.Setup(
        [sys.argv[0], *options, str(corpus)],
        Watch(target, folder / "findings"),
        custom_mutator=lambda told, longest, seed: mutate(target, told, longest, seed),
    )
    atheris.Fuzz()


if __name__ == "__main__":
    main()
