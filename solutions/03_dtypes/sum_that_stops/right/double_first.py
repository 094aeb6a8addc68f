"""A float64 copy, summed and brought back."""


def loop_sum(x):
    total = x.new_zeros(())
    for score in x.flatten():
        total = total + score
    return total


def accurate_sum(x):
    return x.double().sum().to(x.dtype)


def loop_error(x):
    return abs(float(loop_sum(x)) - float(x.double().sum()))
