"""You return a new tensor, and the caller's picture keeps its shape; the underscore promises that img itself changes.

caught by: same_object
keeps: as_batch, unbatch, column
"""


def as_batch_(img):
    return img.unsqueeze(0)
