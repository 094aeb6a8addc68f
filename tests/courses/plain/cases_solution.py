class Shelf:
    """A shelf with room for a few things."""

    def __init__(self, room):
        self.room = room
        self.things = []

    def put(self, name):
        if self.is_full():
            raise ValueError("the shelf is full")
        self.things.append(name)

    def names(self):
        return list(self.things)

    def share(self):
        return len(self.things) / self.room

    def is_full(self):
        return len(self.things) == self.room


def noisy(x, noise):
    return x + noise
