"""You resize in place: that lays the numbers out anew, and those of a transposed picture lose their order.

caught by: in_place
keeps: as_batch, unbatch, column
"""


def as_batch_(img):
    return img.resize_(1, *img.shape)
