import torch


class Record:
    """No tensor, though it has a method `to`."""

    def to(self, *args, **kwargs):
        return Record()


def passes_on_record(function, device):
    """Whether an object with a method `to` comes back as itself."""
    record = Record()
    return function({"record": record}, device)["record"] is record


def of_parameter(function, numbers, device):
    """What becomes of the same numbers as a parameter, on the CPU."""
    return function({"weights": torch.nn.Parameter(numbers)}, device)["weights"]


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
