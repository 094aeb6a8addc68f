"""You go down one level only, so that the rows of a table come back as tensors. Nested lists need every level.

caught by: back_nested
keeps: to_tensor
"""


def to_python(t):
    if t.dim() == 0:
        return t.item()
    return [row.item() if row.dim() == 0 else row for row in t]
