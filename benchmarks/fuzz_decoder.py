"""A coverage-guided fuzzer on what the check process decodes: everything that a worker may send.

frames      a stream of bytes, perhaps with a descriptor: header, tree, data; what is a frame goes on to `incoming`
incoming    a whole reply: objects, blocks, tensors, arrays, handles, containers, and a result or an exception
geometry    one row of a tensor or an array, over a block of 64 bytes

Seeds are the replies of an honest worker, made here. An input is changed as a tree of JSON two times in three, and as
bytes otherwise. What must hold: either a `ProtocolFault` comes out, or a value that is safe to use. Every tensor and
array lies inside its block, all of it can be read, shown and handed over again, nothing of ours changed that the reply
did not tell of, in less than two seconds, and with less than 48 MB where a message may hold one. A finding is told
once for each place where it shows; its input is kept, and the fuzzer goes on.

It needs atheris, which is no dependency of ours (`pip install atheris`: Linux, Python 3.11 to 3.13).

    python benchmarks/fuzz_decoder.py incoming FOLDER -max_total_time=600
    python benchmarks/fuzz_decoder.py incoming FOLDER --try FOLDER/findings/*      # once each, with its traceback
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
from typing import Any

import atheris
import numpy as np
import pytest  # noqa: F401  before the instrumentation, as everything that is not to be instrumented
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
with atheris.instrument_imports(include=["grader"]):  # only what is imported here: the wire imports nothing else
    import grader.wire.incoming
    import grader.wire.transport  # noqa: F401
    from grader.wire.blocks import Block, array_bounds, span
    from grader.wire.describe import build_array, build_tensor
    from grader.wire.frames import HEADER, IN_DESCRIPTOR, MAGIC, Channel, Frame, Patience, ProtocolFault, WireError
    from grader.wire.rows import ArrayRow, ObjectRow, TensorRow

from wire.hostile import (
    CAPS,
    EXTREMES,
    MEGABYTES,
    REPLIES,
    Ours,
    ask_again,
    at,
    first_numbers,
    honest_reply,
    peak,
    places,
    shown,
    touch,
)
from wire.pair import bits

from grader.check.show import show
from grader.model.endings import CannotJudge, WorkerLost
from grader.remote.raised import raised_by_student
from grader.remote.side import Side

SECONDS = 2.0
LONGEST = 1 << 15
BLOCK = 64
_RAISED = {
    "type": "ValueError",
    "text": "no",
    "builtin": "ValueError",
    "signature": None,
    "frames": [["row_sums.py", 3, "total", "    raise ValueError"]],
}
_MORE_EXTREMES: list[Any] = [
    *(
        ["int", "0x" + "f" * 4000],
        ["scalar", "<f16", "7f" * 16],
        ["scalar", "<c32", "02" * 32],
        ["known", 4],
        ["known", 6],
    ),
    *(
        ["set", [["known", 1]] * 9],
        ["tuple", [["known", 1]] * 9],
        ["dict", [[["known", 1], 0]]],
        "float8_e8m0fnu",
        "<f16",
    ),
]
_FLAGS = ("requires_grad", "is_leaf", "is_conj", "is_neg", "is_inference")


class Harm(Exception):
    """A reply was taken that should not have been."""


class Sitting:
    """What a side reads of its sitting when it decodes a reply."""

    owner = "your"


# --------------------------------------------------------------------------------------------------------- targets


def geometry(told: bytes) -> None:
    """One row, over one block."""
    block = Block.allocate(1, BLOCK, writable=True)
    block.write(memoryview(bytearray(range(BLOCK))))
    with contextlib.suppress(ProtocolFault):
        row = ObjectRow.read([1, parsed(told)]).row
        if isinstance(row, ArrayRow):
            value: Any = build_array(row, {1: block}, CAPS)
        elif isinstance(row, TensorRow):
            value = build_tensor(row, {1: block}, CAPS)
        else:
            return
        is_inside(value, [block])
        bits(value)
        show(value)


def incoming(told: bytes) -> None:
    """A reply: its tree, and after the first line break its data."""
    text, _, data = told.partition(b"\n")
    tree = parsed(text)
    if isinstance(tree, dict):
        take(tree, data)


def frames(told: bytes) -> None:
    """A stream; the first three bytes say whether a descriptor comes along, and how much memory it has."""
    stream = Stream(told[3:], int.from_bytes(told[1:3], "big") if told[:1] == b"\1" else None)
    channel = Channel(stream, CAPS)
    try:
        frame = channel.receive()
        take(frame.tree, bytes(frame.data), frame)
    except WireError:
        pass
    finally:
        channel.close()


TARGETS: dict[str, Callable[[bytes], None]] = {"frames": frames, "incoming": incoming, "geometry": geometry}


class Stream:
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
            raise ProtocolFault("the stream ends")
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
    """Read a reply as a check's call does, and use what came of it.

    Raises:
        Harm: it did harm.
    """
    ours = Ours()
    out = ours.ask()
    untouched = list(not_told(ours, tree))
    constant = bits(ours.constant)
    side = Side(Sitting())  # type: ignore[arg-type]
    try:
        result = side.read(frame or Frame(1, tree, memoryview(bytearray(data))), "your `total`", ours.exchange)
    except (ProtocolFault, CannotJudge, WorkerLost):
        result, taken = None, False
    except Exception as error:
        if raised_by_student(error) is None:
            raise
        str(error)
        taken = False
    else:
        taken = True
    if taken:
        use(ours, result)
    for leaf, was in untouched:
        if shown(leaf) != was:
            raise Harm("an argument changed that the reply did not tell of")
    if bits(ours.constant) != constant:
        raise Harm("memory that is read-only was written")
    if taken:
        ours.exchange.end_call()
        ask_again(ours, result)
    del out


def use(ours: Ours, result: Any) -> None:
    """Everything that a check may do with a value: read it, show it, look at the arguments again."""
    values = [result, *ours.arguments]
    if sum(map(touch, values)) > 2 * CAPS.expanded * len(values):
        raise Harm("a value is larger than a message may be")
    for known in ours.exchange.known.values():
        if isinstance(leaf := known.refer(), (torch.Tensor, np.ndarray)):
            is_inside(leaf, list(ours.exchange.blocks.values()))
    for value in values:
        show(value)


def not_told(ours: Ours, tree: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    """Arguments that a reply tells nothing of, and how they are."""
    blocks, changed = first_numbers(tree, "blocks"), first_numbers(tree, "changed")
    for leaf in ours.leaves:
        number = ours.exchange.number_of(leaf)
        assert number is not None
        row = ours.exchange.known[number].row
        assert row is not None
        if number not in changed and row.block not in blocks:
            yield leaf, shown(leaf)


def is_inside(leaf: Any, blocks: list[Block]) -> None:
    """Whether all elements of a tensor or an array lie in one block, and a tensor's in its storage.

    Raises:
        Harm: they do not.
    """
    if isinstance(leaf, np.ndarray):
        start, size = array_bounds(leaf)
    else:
        storage = leaf.untyped_storage()
        start, size = storage.data_ptr(), storage.nbytes()
        end = leaf.storage_offset() + span(tuple(leaf.shape), leaf.stride())[1] + 1 if leaf.numel() else 0
        if end * leaf.itemsize > size:
            raise Harm("a tensor lies outside its storage")
    if size and not any(block.holds(start, size) and block.hold() for block in blocks):
        raise Harm("a tensor or an array lies outside of every block")


# ----------------------------------------------------------------------------------------------------------- seeds


def seeds(target: str) -> Iterator[bytes]:
    """Messages of an honest worker."""
    flags = dict.fromkeys(_FLAGS, False)
    claims = {**flags, "is_leaf": True, "grad_fn": None, "version": 0, "device": "cpu", "type": "Tensor"}
    if target == "geometry":
        for name in ("float32", "bool", "complex64", "float8_e8m0fnu", "int16"):
            yield dumped(["tensor", name, [2, 2], [2, 1], 0, 1, 0, BLOCK, claims, None])
            yield dumped(["tensor", name, [2, 0], [2, 1], 1, -1, 0, 0, {**claims, "is_conj": True}, None])
        for name in ("<f8", ">i2", "|b1", "<c16", "<f16"):
            yield dumped(["array", name, [2], [-16], 1, 32, True])
            yield dumped(["array", name, [0, 3], [8, 8], -1, 0, False])
        return
    objects: dict[str, list[Any]] = {"new": [], "changed": [], "blocks": []}
    replies = [(json.loads(text), data) for text, data in map(honest_reply, range(len(REPLIES)))]
    replies.append(({"objects": objects, "raised": _RAISED}, b""))
    replies.append(({"objects": objects, "unsupported": "a generator"}, b""))
    table = [1, ["dict", [["total", "callable"], ["SIZE", "value"]]]]
    replies.append(({"objects": {**objects, "new": [table]}, "result": ["known", 1]}, b""))
    for tree, data in replies:
        if target == "incoming":
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
    size = len(data) | (IN_DESCRIPTOR if shared else 0)
    first = b"\1" + min(len(data), 0xFFFF).to_bytes(2, "big") if shared else b"\0\0\0"
    return first + HEADER.pack(MAGIC, 1, len(text), size) + text + (b"" if shared else data)


# -------------------------------------------------------------------------------------------------------- mutation


def mutate(target: str, told: bytes, longest: int, seed: int) -> bytes:
    """Another input, from the one that is there."""
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
    out = {"geometry": text, "incoming": text + b"\n" + data}.get(target) or framed(text, data, shared=shared)
    return out if len(out) <= longest else told


def parts(target: str, told: bytes) -> tuple[bytes, bytes, bool]:
    """Tree, data, and whether the data is shared memory."""
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
    """A tree with one value replaced, removed, repeated, nested, or exchanged for another."""
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
            parent[key] = choice.choice([[parent[key]], ["list", [parent[key]]], ["known", parent[key]]])
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
