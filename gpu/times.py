# mypy: ignore-errors
"""Times of a real GPU, and of the virtual clock for the same: products, other operators, copies, launches, GPT-2."""

from __future__ import annotations

import functools
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from gpt2_step import GPT
from torch.nn import functional

SIMULATED = False
_MEGA = 1 << 20


def make(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Return a tensor on the device, without numbers where the device is simulated."""
    if SIMULATED:
        from grader import accelerator

        return accelerator.to_device(torch.empty(*shape, dtype=dtype, device="meta"))
    if dtype in (torch.int64, torch.bool):
        return torch.zeros(*shape, dtype=dtype, device="cuda")
    return torch.randn(*shape, device="cuda").to(dtype)


def per_call(call: Callable[[], Any], turns: int = 10) -> float:
    """Return the microseconds of the device for a call: the median of five rows of calls."""
    call()
    call()
    found = []
    for _ in range(5):
        first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        first.record()
        for _ in range(turns):
            call()
        last.record()
        torch.cuda.synchronize()
        found.append(first.elapsed_time(last) / turns * 1e3)
    return statistics.median(found)


def of_host(call: Callable[[], Any], turns: int = 20) -> float:
    """Return the microseconds of the host for a call, when the device is idle before."""
    call()
    found = []
    for _ in range(turns):
        torch.cuda.synchronize()
        start = time.perf_counter()
        call()
        found.append((time.perf_counter() - start) * 1e6)
    return statistics.median(found)


def operators() -> dict[str, Callable[[], Any]]:
    """Return the calls that are timed on the device, by name."""
    calls: dict[str, Callable[[], Any]] = {}
    for dtype in (torch.float32, torch.bfloat16, torch.float16, torch.float64):
        for size in (256, 1024, 4096, 8192):
            if dtype is not torch.float64 or size < 8192:
                a = make(size, size, dtype=dtype)
                calls[f"product {size} {str(dtype)[6:]}"] = lambda a=a: a @ a
    a, b = make(64, 512, 64), make(64, 64, 512)
    calls["bmm 64 x 512 x 64 float32"] = lambda: a @ b
    half, halfb = make(192, 1024, 64, dtype=torch.bfloat16), make(192, 64, 1024, dtype=torch.bfloat16)
    calls["bmm 192 x 1024 x 64 bfloat16"] = lambda: half @ halfb
    linear, rows = make(4096, 1024, dtype=torch.bfloat16), make(8192, 1024, dtype=torch.bfloat16)
    calls["linear 8192 x 1024 x 4096 bfloat16"] = lambda: functional.linear(rows, linear)
    for count in (1 << 10, _MEGA, 16 * _MEGA, 256 * _MEGA):
        x = make(count)
        calls[f"add {count}"] = lambda x=x: x + x
        calls[f"sum {count}"] = lambda x=x: x.sum()
    x, wide, low = make(16 * _MEGA), make(16384, 1024), make(16 * _MEGA, dtype=torch.bfloat16)
    index, table = make(65536, dtype=torch.int64), make(50257, 768)
    weight, image, kernel = make(1024), make(64, 64, 56, 56), make(64, 64, 3, 3)
    q, targets = make(16, 12, 1024, 64, dtype=torch.bfloat16), make(16384, dtype=torch.int64)
    square, many = make(1024, 1024), make(_MEGA)
    calls |= {
        "add bfloat16 16M": lambda: low + low, "add_ 16M": lambda: x.add_(1), "exp 16M": lambda: x.exp(),
        "gelu 16M": lambda: functional.gelu(x), "clone 16M": lambda: x.clone(), "to bfloat16 16M": lambda: x.bfloat16(),
        "transpose 4096": lambda: x.view(4096, 4096).t().contiguous(), "softmax 16384 x 1024": lambda: wide.softmax(-1),
        "layer norm 16384 x 1024": lambda: functional.layer_norm(wide, (1024,), weight, weight),
        "sum of rows 16384 x 1024": lambda: wide.sum(-1), "sum of columns 16384 x 1024": lambda: wide.sum(0),
        "embedding 65536 x 768": lambda: functional.embedding(index, table), "cumsum 16M": lambda: x.cumsum(0),
        "cross entropy 16384 x 1024": lambda: functional.cross_entropy(wide, targets), "argmax 16M": lambda: x.argmax(),
        "conv 64 x 64 x 56 x 56": lambda: functional.conv2d(image, kernel, padding=1), "dropout 16M": lambda: functional.dropout(x, 0.5),
        "conv bfloat16": lambda: functional.conv2d(image.bfloat16(), kernel.bfloat16(), padding=1),
        "max pool": lambda: functional.max_pool2d(image, 2), "batch norm": lambda: functional.batch_norm(image, None, None, training=True),
        "attention 16 x 12 x 1024 x 64 bfloat16": lambda: functional.scaled_dot_product_attention(q, q, q, is_causal=True),
        "cat 2 x 16M": lambda: torch.cat([x, x]), "zeros 16M": lambda: torch.zeros(16 * _MEGA, device="cuda") if not SIMULATED else torch.zeros_like(x),
        "where 16M": lambda: torch.where(x > 0, x, x), "scatter_add 1M": lambda: many.scatter_add(0, index, many[:65536]),
        "linalg.inv 1024": lambda: torch.linalg.inv(square), "linalg.qr 1024": lambda: torch.linalg.qr(square),
    }  # fmt: skip
    if not SIMULATED:
        calls |= {"sort 1M": lambda: many.sort(), "topk 1M": lambda: many.topk(10)}
    return calls


def copies() -> dict[str, float]:
    """Return the microseconds of the host until a copy between host and device is done, by name."""
    found = {}
    for size in (1 << 12, _MEGA, 64 * _MEGA):
        there = torch.ones(size, dtype=torch.uint8, device="cuda")
        for name, host in (
            ("pageable", torch.ones(size, dtype=torch.uint8)),
            ("pinned", torch.ones(size, dtype=torch.uint8, pin_memory=True)),
        ):
            found[f"to device, {name} {size}"] = of_host(
                lambda h=host: (h.to("cuda", non_blocking=True), torch.cuda.synchronize()), 9
            )
            found[f"to host, {name} {size}"] = of_host(
                lambda h=host, t=there: (h.copy_(t, non_blocking=True), torch.cuda.synchronize()), 9
            )
    tiny = torch.ones(4, device="cuda")
    net = torch.nn.Sequential(*[torch.nn.Linear(4, 4) for _ in range(10)]).cuda()
    found["launch of an addition"] = of_host(lambda: tiny + 1)
    found["item"] = of_host(lambda: tiny[0].item())
    found["synchronize"] = of_host(lambda: torch.cuda.synchronize())
    found["ten small layers, forward"] = of_host(lambda: net(tiny[None]))
    found["ten small layers, forward and backward"] = of_host(lambda: net(tiny[None]).sum().backward())
    found["ten small additions on the device"] = per_call(lambda: [tiny + 1 for _ in range(10)])
    return found


def gpt2() -> dict[str, float]:
    """Return the microseconds of a step of GPT-2 (124M), as in gpt2_step.py."""
    from gpt2_step import _BATCH, _LENGTH, on_device

    found = {}
    for precision in ("float32", "TF32", "bfloat16"):
        torch.set_float32_matmul_precision("highest" if precision == "float32" else "high")
        with torch.device("meta" if SIMULATED else "cuda"):
            model = GPT()
        if SIMULATED:
            on_device(model)
        optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
        tokens = make(_BATCH, _LENGTH, dtype=torch.int64)

        def step(
            precision: str = precision, model: Any = model, optimizer: Any = optimizer, tokens: Any = tokens
        ) -> None:
            optimizer.zero_grad()
            with torch.autocast("cuda", dtype=torch.bfloat16, enabled=precision == "bfloat16"):
                loss = model(tokens, tokens)
            loss.backward()
            optimizer.step()
            torch.cuda.synchronize()

        turns = 2 if SIMULATED else 6
        for _ in range(2 if SIMULATED else 3):
            step()
        torch.cuda.reset_peak_memory_stats()
        found[precision] = of_host(step, turns)
        found[f"{precision}, peak MiB"] = torch.cuda.max_memory_allocated() / _MEGA
        del model, optimizer, step
        torch.cuda.empty_cache()
    torch.set_float32_matmul_precision("highest")
    return found


def all_times() -> dict[str, dict[str, Any]]:
    """Return all times, by kind and by name."""
    torch.set_float32_matmul_precision("highest")
    found: dict[str, dict[str, Any]] = {"device": {}}
    for name, call in operators().items():
        try:
            found["device"][name] = per_call(call, 3 if "8192" in name or "256M" in name else 10)
        except Exception as error:
            found["device"][name] = f"! {type(error).__name__}: {str(error)[:150]}"
    torch.set_float32_matmul_precision("high")
    found["device"]["product 8192 TF32"] = per_call(functools.partial(torch.matmul, *[make(8192, 8192)] * 2), 3)
    torch.set_float32_matmul_precision("highest")
    return {**found, "host": copies(), "GPT-2": gpt2()}
