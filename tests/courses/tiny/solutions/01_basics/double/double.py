def double(x):
    # SECRET MARKERS: a word that stands here and in no submission
    return 2 * x


def double_(x):
    return x.mul_(2)
