SECRET = "CANARY_SHARED"


def drawn(rng):
    """Names of three files."""
    return [f"{number}.txt" for number in rng.integers(0, 9, 3)]
