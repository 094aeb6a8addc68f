"""What the library has: var_mean, layer_norm, view."""

import torch
import torch.nn.functional as F


def channel_stats(images):
    images = images.to(torch.promote_types(images.dtype, torch.float32))
    variance, mean = torch.var_mean(images, dim=[0, 2, 3], unbiased=False)
    return mean, torch.sqrt(variance)


def standardize(images, mean, std):
    shape = (1, len(mean), 1, 1)
    return images.sub(mean.view(shape)).div(std.view(shape))


def layer_norm(x):
    return F.layer_norm(x, x.shape[-1:])
