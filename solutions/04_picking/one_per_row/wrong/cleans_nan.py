"""You replace NaN by 0 (`nan_to_num`). The score of a right class may be NaN, and then the result is NaN at this place.

caught by: picks_nan
keeps: best
"""


def pick(scores, labels):
    return scores.gather(1, labels[:, None])[:, 0].nan_to_num()
