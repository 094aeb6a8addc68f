SECRET = "CANARY_REFERENCE"


def negate(x):
    return -x
