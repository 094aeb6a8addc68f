"""Brackets: None adds a dim, 0 takes the only picture."""


def as_batch(img):
    return img[None]


def unbatch(out):
    if len(out) != 1:
        raise ValueError("out is not a batch of one")
    return out[0]


def column(v):
    return v[:, None]


def as_batch_(img):
    img.unsqueeze_(0)
    return img
