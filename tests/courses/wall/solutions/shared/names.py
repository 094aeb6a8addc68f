SECRET = "CANARY_SHARED"


def make(folder, names):
    for name in names:
        (folder / name).write_text(name)
