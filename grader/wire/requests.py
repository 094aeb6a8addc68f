"""What a check process asks of a worker, and what the worker answers: records, to plain data and back.

A field of the type `Plain` that stands for a value, a check's or a student's, is as `Outgoing.value` wrote it. It is
read with the objects that the same message tells of.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from grader.wire.bounds import ProtocolFault
from grader.wire.raised_rows import RaisedRow
from grader.wire.tree import Plain


class Load(NamedTuple):
    """Write the files into the empty folder and import the module; answered with its public names and their kinds.

    Attributes:
        module: its name.
        secret: whether the files must not stay on disk while the worker lives.
        device: what its code is to see.
        files: a dict of bytes by relative name.
        data: the same of what its code may read and not change.
    """

    module: str
    secret: bool
    device: str
    files: Plain
    data: Plain


class LoadProbe(NamedTuple):
    """Run the source of a probe, a str, as a module of that name."""

    module: str
    source: Plain


class Call(NamedTuple):
    """Call a function."""

    function: Plain
    args: list[Plain]
    kwargs: dict[str, Plain]


class CallEach(NamedTuple):
    """Call a function several times, one after the other; each call has a reply of its own.

    Attributes:
        function: what is called.
        calls: the positional arguments of each.
    """

    function: Plain
    calls: list[list[Plain]]


class Get(NamedTuple):
    """Read an attribute of an object."""

    object: Plain
    name: str


class Prepare(NamedTuple):
    """Make the arguments of timed calls; their numbers come with `Go`."""


class Go(NamedTuple):
    """Make the calls that were prepared, one after the other; answered with `Replies`.

    Attributes:
        function: what is called.
        calls: the arguments of each: what was prepared, and plain values.
        in_place: whether the arguments come back beside each result.
        places: where the bytes of each block begin in the data, if they do not lie in shared memory; by block.
    """

    function: Plain
    calls: list[list[Plain]]
    in_place: bool
    places: dict[str, int]


Request: TypeAlias = Load | LoadProbe | Call | CallEach | Get | Prepare | Go

_REQUESTS: Mapping[str, type[Request]] = {
    kind.__name__: kind for kind in (Load, LoadProbe, Call, CallEach, Get, Prepare, Go)
}


def parts(request: Request) -> list[Request]:
    """What has a reply of its own: each call of `CallEach`, of any other request the whole."""
    if isinstance(request, CallEach):
        return [Call(request.function, args, {}) for args in request.calls]
    return [request]


class Asked(NamedTuple):
    """A whole request.

    Attributes:
        request: what is asked.
        objects: the objects and memory that it needs, as `rows.Told` writes them.
        seed: what student code's generators are seeded with first, or None.
        grad: whether gradients are recorded, as they are where the check asks.
        states: of generators that the check has seeded, by name.
    """

    request: Request
    objects: Plain
    seed: int | None = None
    grad: bool = True
    states: Mapping[str, Plain] = {}

    def plain(self) -> dict[str, Plain]:
        """The tree of a frame."""
        own: dict[str, Plain] = {"do": type(self.request).__name__, "objects": self.objects, "seed": self.seed}
        own |= {"grad": self.grad, "states": dict(self.states)}
        return {**own, **self.request._asdict()}

    @classmethod
    def read(cls, tree: Mapping[str, Plain]) -> Asked:
        """A request as it arrived: from the check process, which a worker trusts."""
        fields = dict(tree)
        kind, objects, seed = _REQUESTS[str(fields.pop("do"))], fields.pop("objects"), fields.pop("seed")
        grad, states = bool(fields.pop("grad")), fields.pop("states")
        return cls(kind(**fields), objects, seed, grad, states)  # type: ignore[arg-type]


class Reply(NamedTuple):
    """The answer to a request: one of three.

    Attributes:
        objects: the objects and memory that it tells of.
        result: what came of it, if `raised` and `unsupported` are None.
        raised: what student code raised.
        unsupported: why the result cannot be handed over.
    """

    objects: object
    result: object = None
    raised: RaisedRow | None = None
    unsupported: str | None = None

    def plain(self) -> dict[str, object]:
        """The tree of a frame."""
        if self.raised is not None:
            return {"raised": self.raised.plain(), "objects": self.objects}
        if self.unsupported is not None:
            return {"unsupported": self.unsupported, "objects": self.objects}
        return {"result": self.result, "objects": self.objects}

    @classmethod
    def read(cls, tree: Mapping[str, object]) -> Reply:
        """A reply as it arrived: a claim.

        Raises:
            ProtocolFault: it is no reply.
        """
        objects = tree.get("objects")
        if "raised" in tree:
            return cls(objects, raised=RaisedRow.read(tree["raised"]))
        if "unsupported" in tree:
            return cls(objects, unsupported=str(tree["unsupported"]))
        if "result" not in tree:
            raise ProtocolFault("a reply without a result")
        return cls(objects, tree["result"])


class Replies(NamedTuple):
    """The answer to a request for several calls: a reply for each, up to the first that has no result.

    Each is written as soon as its call is over, and by itself. So nothing that a later call does can change what an
    earlier one answered, nor can the work of several be put off to the last.

    Attributes:
        replies: in the order of the calls.
        sizes: how many bytes of the data belong to each.
    """

    replies: list[Reply]
    sizes: list[int]

    def plain(self) -> dict[str, object]:
        """The tree of a frame."""
        return {"replies": [reply.plain() for reply in self.replies], "sizes": self.sizes}

    @staticmethod
    def parts(tree: Mapping[str, object], length: int) -> list[tuple[Mapping[str, object], int, int]]:
        """The tree of each reply as it arrived, and from where to where its data reach: a claim.

        Args:
            tree: of the frame. A single reply, where all together could not be handed over, is given as it is.
            length: of the data.

        Raises:
            ProtocolFault: it is no such answer.
        """
        if "replies" not in tree:
            return [(tree, 0, length)]
        trees, sizes = tree["replies"], tree.get("sizes")
        if not isinstance(trees, list) or not isinstance(sizes, list) or not 0 < len(trees) == len(sizes):
            raise ProtocolFault("replies are described wrongly")
        if not all(isinstance(one, dict) for one in trees) or not all(
            type(size) is int and size >= 0 for size in sizes
        ):
            raise ProtocolFault("replies are described wrongly")
        ends = list(itertools.accumulate(sizes))
        if ends[-1] != length:
            raise ProtocolFault("replies are described wrongly")
        return list(zip(trees, [0, *ends[:-1]], ends, strict=True))
