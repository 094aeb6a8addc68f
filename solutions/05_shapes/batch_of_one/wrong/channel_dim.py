"""You add the dim at 1, after the channels; the dim of the batch comes first.

caught by: one_picture
keeps: unbatch, column, as_batch_
"""


def as_batch(img):
    return img.unsqueeze(min(1, img.dim()))
