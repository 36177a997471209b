import torch

_BAG_MODE = {"sum": 0, "mean": 1, "max": 2}


def _renormed(weight, input, max_norm, norm_type):
    with torch.no_grad():
        torch.ops.aten.embedding_renorm_(weight, input, max_norm, norm_type)


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    padding_idx = -1 if padding_idx is None else padding_idx % weight.size(0)
    if max_norm is not None:
        input = input.contiguous()
        _renormed(weight, input, max_norm, norm_type)
    return torch.ops.aten.embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


def embedding_bag(input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, mode="mean",
                  sparse=False, per_sample_weights=None, include_last_offset=False, padding_idx=None):
    if weight.dtype == torch.long and input.is_floating_point():
        input, weight = weight, input
    if offsets is None:
        offsets = torch.arange(0, input.numel(), input.size(1), dtype=input.dtype)
        include_last_offset = False
        input = input.reshape(-1)
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights.reshape(-1)
    if max_norm is not None:
        _renormed(weight, input, max_norm, norm_type)
    return torch.embedding_bag(
        weight, input, offsets, scale_grad_by_freq, _BAG_MODE[mode], sparse, per_sample_weights,
        include_last_offset, padding_idx,
    )[0]
