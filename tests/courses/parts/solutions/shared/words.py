def words_of(path):
    return path.read_text().split()


def is_long(ids, least):
    assert len(ids) >= least, "the result is too short"
