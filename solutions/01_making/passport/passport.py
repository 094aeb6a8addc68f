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
    silent = (torch.float32, torch.int64, torch.bool) if t.numel() else (torch.float32,)
    facts = {
        "dtype": t.dtype not in silent,
        "device": t.device.type != "cpu",
        "size": t.numel() == 0 and t.dim() != 1,
    }
    return {name for name, fact in facts.items() if fact}
