"""Adds it to itself."""


def double(x):
    return x + x


def double_(x):
    x += x
    return x
