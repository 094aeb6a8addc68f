"""Addresses on the device: storages begin at multiples of 512, as the addresses of CUDA's allocator are."""

from __future__ import annotations

from typing import Any

import torch

_Storage: Any = torch._C.StorageBase
host_address = _Storage.data_ptr
"""The address of a storage's first byte in the memory of the host, of a `SimStorage`, too."""


def address_of(storage: torch.UntypedStorage) -> int:
    """Return the address on the device of the first byte of a storage; 0 if it has no bytes.

    It is eight times the address in the memory of the host: 0x1040 becomes 0x8200. The CPU's allocator returns
    multiples of 64, so these are multiples of 512, as on CUDA. Storages that lie apart in the memory of the host lie
    apart here, too.
    """
    address: int = host_address(storage) << 3
    return address


def address_of_first_element(inner: torch.Tensor) -> int:
    """Return the address on the device of the first element of a tensor; 0 if it has none.

    Args:
        inner: the CPU tensor that holds the numbers.
    """
    host: int = inner.data_ptr()
    if not host:
        return 0
    start: int = host_address(inner.untyped_storage())
    return (start << 3) + host - start
