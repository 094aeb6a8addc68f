"""You call unsqueeze without the underscore and drop what it returns; img stays as it was.

caught by: same_object
keeps: as_batch, unbatch, column
"""


def as_batch_(img):
    img.unsqueeze(0)
    return img
