import torch


def without_accelerator(function):
    """Call the function as on a machine whose PyTorch was built for an accelerator that is not there."""
    answers = {
        "is_available": lambda: False,
        "device_count": lambda: 0,
        "current_accelerator": lambda check_available=False: None if check_available else torch.device("cuda"),
    }
    before = {name: getattr(torch.accelerator, name) for name in answers}
    try:
        for name, answer in answers.items():
            setattr(torch.accelerator, name, answer)
        return function()
    finally:
        for name, answer in before.items():
            setattr(torch.accelerator, name, answer)
