"""The attacks that need a wall, as tables for docs/security.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attacking.corpus import Attack

_HEADS = {
    "reduced": "Not held at `none`",
    "full": "Not held at `reduced`, nor at `none`",
}


def level_lines(attacks: Sequence[Attack]) -> Iterator[str]:
    """For each level but the last, the attacks that it is not asked to hold."""
    for level, head in _HEADS.items():
        yield f"| {head} | |"
        yield "|---|---|"
        for attack in attacks:
            if attack.level == level:
                yield f"| `{attack.name}` | {attack.title.rstrip('.')} |"
        yield ""
