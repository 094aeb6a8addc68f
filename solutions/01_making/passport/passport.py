import torch


def passport(t):
    return {
        "shape": tuple(t.shape),
        "dims": t.dim(),
        "numbers": t.numel(),
        "dtype": t.dtype,
        "device": str(t.device),
        "bytes": t.numel() * t.element_size(),
    }


def brackets(t):
    return t.dim() if t.numel() else 1


def shown(t):
    facts = {"dtype": t.dtype not in (torch.float32, torch.int64, torch.bool), "device": t.device.type != "cpu"}
    return {name for name, fact in facts.items() if fact}
