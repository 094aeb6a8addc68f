def gradient_of_weight(table, ids):
    """The gradient of the table's weight for the sum of these rows."""
    table(ids).sum().backward()
    return table.weight.grad
