"""You call `item` for each loss, and each of these calls waits until the device has done all its work.

caught by: one_wait
keeps: first_bad
"""


def loss_log(losses):
    return [loss.item() for loss in losses]
