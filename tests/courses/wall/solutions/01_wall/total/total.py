SECRET = "CANARY_REFERENCE"


def total(x):
    return x.sum()


def mean(x):
    return x.mean()
