"""Shapes written out; unpacking refuses by itself."""


def as_batch(img):
    return img.view(1, *img.shape)


def unbatch(out):
    (only,) = out.unbind(0)
    return only


def column(v):
    return v.reshape(-1, 1)


def as_batch_(img):
    size, strides = (1, *img.shape), (1, *img.stride())
    return img.as_strided_(size, strides)
