from unittest import mock

import torch


def of_others(function, device):
    """What becomes of a parameter, and whether an object stays that only has a method `to`."""
    batch = {"weights": torch.nn.Parameter(torch.ones(3)), "record": mock.Mock()}
    result = function(batch, device)
    return result["weights"], result.get("record") is batch["record"]


def without_accelerator(function):
    """Call the function as on a machine whose PyTorch was built for an accelerator that is not there."""
    with mock.patch.multiple(
        torch.accelerator,
        is_available=lambda: False,
        device_count=lambda: 0,
        current_accelerator=lambda check_available=False: None if check_available else torch.device("cuda"),
    ):
        return function()
