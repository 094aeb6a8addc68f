def of_a_grown_list(boxed_bytes, numbers):
    """The bytes of a list that was made by append, one number after the other."""
    grown = []
    for number in numbers:
        grown.append(number)
    return boxed_bytes(grown)
