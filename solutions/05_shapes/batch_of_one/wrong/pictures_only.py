"""You count on three dims; an answer of a model has fewer, and a video more.

caught by: as_batch
keeps: unbatch, column, as_batch_
"""


def as_batch(img):
    channels, height, width = img.shape
    return img.reshape(1, channels, height, width)
