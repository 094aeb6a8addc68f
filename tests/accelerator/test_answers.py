"""Every name of `torch.cuda` and its like works on the device, or is refused with a sentence."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import torch
from accelerator.modes import in_mode, raises

from grader.accelerator.tools import answers


@in_mode("cuda")
def test_each_name_works_or_is_refused() -> None:
    """No name of these modules and classes stumbles over what a build of PyTorch does not have."""
    warnings.simplefilter("ignore")  # some names are deprecated
    wrong = {}
    for label, owner in answers.OWNERS.items():
        for name in answers.names_to_try(owner()):
            if (text := answers.try_name(label, name)) not in (answers.WORKS, answers.REFUSED):
                wrong[f"{label} {name}"] = text
    assert wrong == {}


@in_mode("cuda")
def test_what_was_an_attribute_error() -> None:
    """Names that a program meets: caches of cuFFT and of pinned memory, workspaces, properties, private functions."""
    plans: Any = torch.backends.cuda.cufft_plan_cache
    assert (plans.size, plans.max_size, plans[1].max_size) == (0, 4096, 4096)
    plans[1].max_size = 10
    plans.clear()
    assert (plans.max_size, plans[1].max_size) == (4096, 10)
    accelerator: Any = torch.accelerator
    if hasattr(accelerator, "empty_host_cache"):
        accelerator.empty_host_cache()
    if hasattr(accelerator, "get_device_capability"):
        assert torch.bfloat16 in accelerator.get_device_capability("cuda:1")["supported_dtypes"]
        assert not {torch.quint8, torch.bits8} & accelerator.get_device_capability()["supported_dtypes"]
    with raises(ValueError, "cpu doesn't match the current accelerator cuda."):
        accelerator.set_device_index("cpu")
    with raises(ValueError, "cpu doesn't match the current accelerator cuda."):
        accelerator.current_stream(torch.device("cpu"))
    properties: Any = torch.cuda.get_device_properties(0)
    with raises(NotImplementedError, "the L2_cache_size of a device is not known of the simulated device"):
        _ = properties.L2_cache_size
    memory: Any = torch.cuda.memory
    with raises(NotImplementedError, "torch.cuda.host_memory_stats is not supported on the simulated device"):
        memory.host_memory_stats()
    with raises(NotImplementedError, "asks CUDA's driver, which the simulated device does not have"):
        memory._get_memory_metadata()
    assert inspect.isclass(torch.cuda.MemPool)


@in_mode("cuda")
def test_private_functions_that_test_classes_call() -> None:
    """`torch.testing` runs a test on streams of its own, by functions of C++ that a program may call, too."""
    driver: Any = torch._C
    before, side = torch.cuda.current_stream(1), torch.cuda.Stream(1)
    driver._cuda_setStream(stream_id=side.stream_id, device_index=1, device_type=side.device_type)
    assert (torch.cuda.current_stream(), driver._cuda_getDevice()) == (side, 1)
    assert driver._cuda_getCurrentStream(1) == (side.stream_id, 1, 1)
    driver._cuda_setStream(*driver._cuda_getDefaultStream(1))
    assert (torch.cuda.current_stream(1), driver._cuda_exchangeDevice(0), torch.cuda.current_device()) == (before, 1, 0)
    assert driver._cuda_maybeExchangeDevice(-1) == -1
    assert (driver._cuda_getCurrentRawStream(0), driver._cuda_getCompiledVersion() > 12000) == (0, True)
    driver._cuda_clearCublasWorkspaces()
    with raises(NotImplementedError, "torch._C._cuda_getCurrentBlasHandle asks CUDA's driver"):
        driver._cuda_getCurrentBlasHandle()
    assert driver._cuda_cudaCachingAllocator_is_enabled()


@in_mode("cuda")
def test_the_runtime() -> None:
    """CUDA's runtime has texts for its errors, and pins memory that exists; events have numbers."""
    runtime: Any = torch.cuda.cudart()
    with raises(torch.cuda.CudaError, "out of memory (2)"):
        torch.cuda.check_error(2)
    host = torch.ones(20)
    assert (runtime.cudaHostRegister(host.data_ptr(), 80, 0), host.is_pinned(), host[3:].is_pinned()) == (0, True, True)
    assert runtime.cudaGetErrorString(runtime.cudaHostRegister(host.data_ptr(), 80, 0)).endswith("already mapped")
    assert (runtime.cudaHostUnregister(host.data_ptr()), host.is_pinned()) == (0, False)
    assert runtime.cudaHostUnregister(host.data_ptr()) != 0
    with raises(TypeError, "Invalid type for fraction argument"):
        torch.cuda.set_per_process_memory_fraction(1)
    first, second = torch.Event("cuda"), torch.cuda.Event()
    assert (first.event_id, second.cuda_event) == (0, 0)
    first.record()
    second.record()
    assert 0 != first.event_id != second.cuda_event != 0
