def double(x):
    return 2 * x


def double_(x):
    return x.mul_(2)
