def each(function, cases):
    """The results of many calls, in one message."""
    return [function(*case) for case in cases]
