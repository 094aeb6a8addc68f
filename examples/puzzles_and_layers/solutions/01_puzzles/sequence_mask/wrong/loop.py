"""You go through the rows; compare all places with all lengths at once.

caught by: no_loop
"""

def sequence_mask(values, lengths):
    found = values.clone()
    for row, length in zip(found, lengths):
        row[length:] = 0
    return found
