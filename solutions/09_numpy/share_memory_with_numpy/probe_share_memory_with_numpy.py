"""How an array is left behind. Runs beside the student's code."""


def still_writable(shares, a, t):
    """Whether the array can be written to after a call of `shares`."""
    shares(a, t)
    return bool(a.flags.writeable)
