"""You change img itself, in the function that promises only a view; the underscore makes this difference.

caught by: views
keeps: unbatch, column, as_batch_
"""


def as_batch(img):
    return img.unsqueeze_(0)
