"""The sizes other than 1 of each dim, of which there may be one."""


def broadcast(a, b):
    result = ()
    for place in range(1, max(len(a), len(b)) + 1):
        sizes = {shape[-place] for shape in (a, b) if place <= len(shape)} - {1}
        if len(sizes) > 1:
            raise ValueError(f"sizes {sizes} do not fit")
        result = (sizes.pop() if sizes else 1, *result)
    return result
