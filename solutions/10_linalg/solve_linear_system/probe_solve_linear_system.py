import torch


def with_default_dtype(function, dtype, *args):
    """Call the function while another dtype is the default."""
    torch.set_default_dtype(dtype)
    try:
        return function(*args)
    finally:
        torch.set_default_dtype(torch.float32)
