"""CANARY_REFERENCE"""

SECRET = "CANARY_REFERENCE"


def double(x):
    # CANARY_REFERENCE
    return 2 * x


def halve(x):
    return x / 2
