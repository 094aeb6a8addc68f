"""Flash attention by its formula: the operators of `varlen_attn` and of context parallelism, which the CPU lacks.

The arguments and the results are those of CUDA's operators of these names. Sums are in float32, as in the kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from grader.accelerator.refusals import refusal

_Maybe = torch.Tensor | None

_HALVES = (torch.float16, torch.bfloat16)

_NO_DROPOUT = "dropout in {} is not supported on the simulated device: use scaled_dot_product_attention"

_PAGE = 256


def _scores(q: torch.Tensor, k: torch.Tensor, scale: float, left: int, right: int) -> torch.Tensor:
    """Return the scores of all pairs in one sequence, of shape (heads, queries, keys); -inf where a query may not look.

    Args:
        q: the queries, of shape (queries, heads, size), in float32.
        k: the keys, of shape (keys, heads, size).
        scale: the factor of each product.
        left: how many keys before its own a query looks at; negative for all.
        right: the same for keys after its own. The last query's own key is the last one.
    """
    scores = torch.einsum("qhd,khd->hqk", q, k) * scale
    own = torch.arange(q.shape[0])[:, None] + k.shape[0] - q.shape[0]
    keys = torch.arange(k.shape[0])
    hidden = torch.zeros(q.shape[0], k.shape[0], dtype=torch.bool)
    if left >= 0:
        hidden |= keys < own - left
    if right >= 0:
        hidden |= keys > own + right
    return scores.masked_fill_(hidden, -torch.inf)


def _attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *window: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the attention of one sequence, and the logarithm of the sum of the exponentials of each query's scores.

    A query without keys gets zeros and infinity, as in the kernel.
    """
    groups = q.shape[1] // k.shape[1]
    q, k, v = q.float(), k.float().repeat_interleave(groups, 1), v.float().repeat_interleave(groups, 1)
    scores = _scores(q, k, *window)
    sums = scores.logsumexp(-1) if k.shape[0] else torch.full(scores.shape[:2], -torch.inf)
    sums = sums.masked_fill(sums == -torch.inf, torch.inf)
    return torch.einsum("hqk,khd->qhd", (scores - sums[..., None]).exp(), v), sums


def _attend_backward(
    grad: torch.Tensor,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    out: torch.Tensor,
    sums: torch.Tensor,
    scale: float,
    *window: Any,
) -> tuple[torch.Tensor, ...]:
    """Return the gradients of the queries, keys and values of one sequence.

    The result and the sums may be those over keys that other processes have, too, as in context parallelism.
    """
    groups = q.shape[1] // k.shape[1]
    grad, q, out = grad.float(), q.float(), out.float()
    k, v = k.float().repeat_interleave(groups, 1), v.float().repeat_interleave(groups, 1)
    weights = (_scores(q, k, scale, *window) - sums[..., None]).exp()
    of_weights = torch.einsum("qhd,khd->hqk", grad, v) - (grad * out).sum(-1).t()[..., None]
    of_scores = weights * of_weights * scale
    of_q = torch.einsum("hqk,khd->qhd", of_scores, k)
    of_k, of_v = torch.einsum("hqk,qhd->khd", of_scores, q), torch.einsum("hqk,qhd->khd", weights, grad)
    return of_q, *(one.unflatten(1, (-1, groups)).sum(2) for one in (of_k, of_v))


def _check(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *lengths: _Maybe) -> None:
    """Raise for what the kernel refuses, in the words of flash_api.cpp."""
    if q.dtype not in _HALVES:
        raise RuntimeError("FlashAttention only support fp16 and bf16 data type")
    for other, one in (("key", k), ("value", v)):
        if q.dtype != one.dtype:
            raise RuntimeError(f"query and {other} must have the same dtype")
    if {one.stride(-1) for one in (q, k, v)} != {1}:
        raise RuntimeError("Input tensor must have contiguous last dimension")
    if q.shape[-1] > 256:
        raise RuntimeError("FlashAttention forward only supports head dimension at most 256")
    if q.shape[-2] % k.shape[-2]:
        raise RuntimeError("Number of heads in key/value must divide number of heads in query")
    for name, length in zip(("cu_seqlens_q", "cu_seqlens_k"), lengths, strict=False):
        if length is not None and length.dtype is not torch.int32:
            raise RuntimeError(f"{name} must have dtype int32")


def _parts(
    length: int, of_queries: _Maybe, of_keys: _Maybe, used: _Maybe = None, pages: _Maybe = None
) -> Iterator[tuple[slice, Any]]:
    """Yield where the queries and the keys of each sequence are.

    Args:
        length: the number of sequences, which counts if there are no `of_queries`.
        of_queries: where the queries of each sequence begin; None if each sequence is a row of a batch.
        of_keys: the same for keys; None if they are in pages.
        used: how many keys of each sequence count; None for all.
        pages: the pages of each sequence; None if keys are not in pages.
    """
    starts = None if of_queries is None else of_queries.tolist()
    for row in range(length if starts is None else len(starts) - 1):
        count = None if used is None else int(used[row])
        if pages is not None:
            keys: Any = (pages[row], count)
        elif of_keys is None:
            keys = slice(None)
        else:
            first, last = int(of_keys[row]), int(of_keys[row + 1])
            keys = slice(first, last if count is None else min(last, first + count))
        yield slice(None) if starts is None else slice(starts[row], starts[row + 1]), keys


def _forward(
    name: str,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    of_queries: _Maybe,
    of_keys: _Maybe,
    dropout: float,
    causal: bool,
    scale: float | None,
    left: int | None = None,
    right: int | None = None,
    used: _Maybe = None,
    pages: _Maybe = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the attention of all sequences, and the sums of `_attend`.

    Tensors are of shape (tokens, heads, size) with all sequences one after another, or (batch, tokens, heads, size).
    """
    if dropout:
        raise refusal(_NO_DROPOUT.format(name))
    _check(query, key, value, of_queries, of_keys)
    if pages is not None and key.shape[1] % _PAGE:
        raise RuntimeError(f"Paged KV cache block size must be divisible by {_PAGE}")
    window = _window(query, causal, scale, left, right)
    out = torch.empty_like(query)
    packed = of_queries is not None
    sums = query.new_empty(
        (query.shape[1], query.shape[0]) if packed else (query.shape[0], query.shape[2], query.shape[1]),
        dtype=torch.float32,
    )
    for row, (queries, keys) in enumerate(_parts(query.shape[0], of_queries, of_keys, used, pages)):
        if pages is not None:
            its, count = keys
            k, v = (one[its.long()].flatten(0, 1)[:count] for one in (key, value))
        else:
            k, v = (one[keys] if packed else one[row][keys] for one in (key, value))
        made, logarithms = _attend(query[queries] if packed else query[row], k, v, *window)
        if packed:
            out[queries], sums[:, queries] = made.to(out.dtype), logarithms
        else:
            out[row], sums[row] = made.to(out.dtype), logarithms
    return out, sums


def _window(
    query: torch.Tensor, causal: bool, scale: float | None, left: int | None, right: int | None
) -> tuple[float, int, int]:
    """Return the scale, and how far a query looks back and ahead; a negative number means without a limit."""
    return (
        query.shape[-1] ** -0.5 if scale is None else scale,
        -1 if left is None else left,
        0 if causal else -1 if right is None else right,
    )


def _unused(query: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return query.new_zeros(2, dtype=torch.uint64), query.new_empty((), dtype=torch.uint64)


def _flash_forward(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    cum_seq_q: _Maybe,
    cum_seq_k: _Maybe,
    max_q: int,
    max_k: int,
    dropout_p: float,
    is_causal: bool,
    return_debug_mask: bool,
    *,
    scale: float | None = None,
    window_size_left: int | None = None,
    window_size_right: int | None = None,
    seqused_k: _Maybe = None,
    alibi_slopes: _Maybe = None,
    block_table: _Maybe = None,
    num_splits: int | None = None,
) -> tuple[torch.Tensor, ...]:
    """Compute `_flash_attention_forward`."""
    del max_q, max_k, return_debug_mask, num_splits
    if alibi_slopes is not None:
        raise refusal("alibi_slopes is not supported on the simulated device")
    out, sums = _forward(
        "_flash_attention_forward",
        *(query, key, value, cum_seq_q, cum_seq_k, dropout_p, is_causal, scale),
        *(window_size_left, window_size_right, seqused_k, block_table),
    )
    return out, sums, *_unused(query), query.new_empty(0)


def _flash_forward_in_place(out: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    """Compute `_flash_attention_forward_no_dropout_inplace`, which writes the result to `out` and returns the sums."""
    made, sums, *_ = _flash_forward(*args, **kwargs)
    if out.dtype != made.dtype:
        raise RuntimeError("Output must have the same dtype as inputs")
    out.copy_(made)
    return sums


def _flash_backward(
    grad_out: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    out: torch.Tensor,
    logsumexp: torch.Tensor,
    cum_seq_q: _Maybe,
    cum_seq_k: _Maybe,
    max_q: int,
    max_k: int,
    dropout_p: float,
    is_causal: bool,
    rng_state: torch.Tensor,
    unused: torch.Tensor,
    *,
    scale: float | None = None,
    window_size_left: int | None = None,
    window_size_right: int | None = None,
) -> tuple[torch.Tensor, ...]:
    """Compute `_flash_attention_backward`."""
    del max_q, max_k, dropout_p, rng_state, unused
    window = _window(query, is_causal, scale, window_size_left, window_size_right)
    grads = tuple(torch.zeros_like(one) for one in (query, key, value))
    packed = cum_seq_q is not None
    for row, (queries, keys) in enumerate(_parts(query.shape[0], cum_seq_q, cum_seq_k)):
        places = (queries, keys, keys) if packed else (row, row, row)
        sums = logsumexp[:, queries] if packed else logsumexp[row]
        given = (grad_out[places[0]], query[places[0]], key[places[1]], value[places[2]], out[places[0]], sums)
        for grad, place, made in zip(grads, places, _attend_backward(*given, *window), strict=True):
            grad[place] = made.to(grad.dtype)
    return grads


def _cudnn_forward(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_bias: _Maybe,
    cum_seq_q: _Maybe,
    cum_seq_k: _Maybe,
    max_q: int,
    max_k: int,
    compute_log_sumexp: bool,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    return_debug_mask: bool = False,
    *,
    scale: float | None = None,
    seqused_k: _Maybe = None,
    block_table: _Maybe = None,
) -> tuple[Any, ...]:
    """Compute `_cudnn_attention_forward`, which `varlen_attn` calls on capability 9.0 and 10.0."""
    del compute_log_sumexp, return_debug_mask
    if attn_bias is not None:
        raise refusal("attn_bias of _cudnn_attention_forward is not supported on the simulated device")
    out, sums = _forward(
        "_cudnn_attention_forward",
        *(query, key, value, cum_seq_q, cum_seq_k, dropout_p, is_causal, scale, None, None, seqused_k, block_table),
    )
    return out, sums, cum_seq_q, cum_seq_k, max_q, max_k, *_unused(query), query.new_empty(0)


def _cudnn_backward(
    grad_out: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    out: torch.Tensor,
    logsumexp: torch.Tensor,
    philox_seed: torch.Tensor,
    philox_offset: torch.Tensor,
    attn_bias: _Maybe,
    cum_seq_q: _Maybe,
    cum_seq_k: _Maybe,
    max_q: int,
    max_k: int,
    dropout_p: float,
    is_causal: bool,
    *,
    scale: float | None = None,
) -> tuple[torch.Tensor, ...]:
    """Compute `_cudnn_attention_backward`."""
    del attn_bias
    given = (grad_out, query, key, value, out, logsumexp, cum_seq_q, cum_seq_k, max_q, max_k, dropout_p, is_causal)
    return _flash_backward(*given, philox_seed, philox_offset, scale=scale)


def _sdpa_forward(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    return_debug_mask: bool = False,
    *,
    scale: float | None = None,
) -> tuple[Any, ...]:
    """Compute `_scaled_dot_product_flash_attention`, whose tensors are of shape (batch, heads, tokens, size)."""
    del return_debug_mask
    q, k, v = (one.transpose(1, 2) for one in (query, key, value))
    out, sums = _forward("_scaled_dot_product_flash_attention", q, k, v, None, None, dropout_p, is_causal, scale)
    lengths = (None, None, query.shape[2], key.shape[2])
    return out.transpose(1, 2), sums, *lengths, *_unused(query), query.new_empty(0)


def _sdpa_backward(
    grad_out: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    out: torch.Tensor,
    logsumexp: torch.Tensor,
    cum_seq_q: _Maybe,
    cum_seq_k: _Maybe,
    *others: Any,
    scale: float | None = None,
) -> tuple[torch.Tensor, ...]:
    """Compute `_scaled_dot_product_flash_attention_backward`."""
    del cum_seq_q, cum_seq_k
    given: Any = [one.transpose(1, 2) for one in (grad_out, query, key, value, out)]
    backward: Any = _flash_backward
    return tuple(one.transpose(1, 2) for one in backward(*given, logsumexp, None, None, *others, scale=scale))


KERNELS: dict[str, Callable[..., Any]] = {
    "_flash_attention_forward": _flash_forward,
    "_flash_attention_forward_no_dropout_inplace": _flash_forward_in_place,
    "_flash_attention_backward": _flash_backward,
    "_cudnn_attention_forward": _cudnn_forward,
    "_cudnn_attention_backward": _cudnn_backward,
    "_scaled_dot_product_flash_attention": _sdpa_forward,
    "_scaled_dot_product_flash_attention_backward": _sdpa_backward,
}
"""By operator, the function that computes it with the numbers of the CPU."""
