"""You `unsqueeze_` labels in place: the list of labels, which belongs to the caller, has two dims afterwards.

caught by: arguments_kept
keeps: best
"""


def pick(scores, labels):
    return scores.gather(1, labels.unsqueeze_(1)).squeeze(1)
