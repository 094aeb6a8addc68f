import torch


def batch(data, count, context):
    first = torch.randint(len(data) - context, (count, 1))
    place = first + torch.arange(context)
    return data[place], data[place + 1]
