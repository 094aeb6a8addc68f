"""You change img and return nothing; a method with an underscore gives the tensor back, do the same.

caught by: same_object
keeps: as_batch, unbatch, column
"""


def as_batch_(img):
    img.unsqueeze_(0)
