def broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    rank = max(len(a), len(b))
    return tuple(met(x, y) for x, y in zip(padded(a, rank), padded(b, rank), strict=True))


def padded(shape: tuple[int, ...], rank: int) -> tuple[int, ...]:
    return (1,) * (rank - len(shape)) + shape


def met(x: int, y: int) -> int:
    if x != y and 1 not in (x, y):
        raise ValueError(f"{x} and {y} do not fit")
    return y if x == 1 else x
