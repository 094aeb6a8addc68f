"""Tried out with PyTorch, where the file is run by itself."""


def contiguous_strides(shape):
    strides = [1] * len(shape)
    for dim in range(len(shape) - 2, -1, -1):
        strides[dim] = strides[dim + 1] * (shape[dim + 1] or 1)
    return tuple(strides)


def transposed(shape, strides, a, b):
    dims = list(range(len(shape)))
    dims[a], dims[b] = dims[b], dims[a]
    return tuple(tuple(items[dim] for dim in dims) for items in (shape, strides))


if __name__ == "__main__":
    import torch

    print(contiguous_strides((2, 3, 4)) == torch.empty(2, 3, 4).stride())
