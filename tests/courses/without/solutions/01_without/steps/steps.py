def steps(shape):
    result, step = (), 1
    for size in reversed(shape):
        result, step = (step, *result), step * size
    return result
