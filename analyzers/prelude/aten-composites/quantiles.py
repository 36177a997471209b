import torch


def _quantile_shape(self, q, dim, keepdim):
    shape = []
    if dim is not None and self.dim() > 0:
        shape = list(self.shape)
        if keepdim:
            shape[dim % self.dim()] = 1
        else:
            shape.pop(dim % self.dim())
    elif keepdim:
        shape = [1] * self.dim()
    return [q.numel()] + shape


def _sorted_last(self, dim):
    if dim is None:
        return self.flatten().sort()[0]
    if dim % max(self.dim(), 1) == self.dim() - 1:
        return self.sort()[0]
    return self.unsqueeze(-1).transpose(dim, -1).sort()[0]


def _quantile(self, q, dim, keepdim, interpolation, ignore_nan):
    if isinstance(q, (int, float)):
        q = torch.tensor(q, dtype=self.dtype)
    ordered = _sorted_last(self, dim)
    shape = _quantile_shape(self, q, dim, keepdim)[1:] + [ordered.shape[-1]]
    ordered = ordered.view(shape)
    if ignore_nan:
        ranks = q * (ordered.isnan().logical_not_().sum(-1, True) - 1)
        ranks.masked_fill_(ranks < 0, 0)
    else:
        last = ordered.shape[-1] - 1
        places = torch.ops.aten.broadcast_tensors([q * last, ordered.isnan().any(-1, True)])
        ranks = torch.ops.aten.masked_fill(places[0], places[1], last)
    if interpolation == "lower":
        ranks.floor_()
    elif interpolation == "higher":
        ranks.ceil_()
    elif interpolation == "nearest":
        ranks.round_()
    below = ranks.to(torch.int64)
    values = ordered.gather(-1, below)
    if interpolation in ("linear", "midpoint"):
        weights = torch.full_like(ranks, 0.5) if interpolation == "midpoint" else ranks - below
        values.lerp_(ordered.gather(-1, ranks.ceil_().to(torch.int64)), weights)
    if q.dim() == 0:
        return values.squeeze_(-1)
    return values.unsqueeze_(0).transpose_(0, -1).squeeze_(-1)


def quantile(self, q, dim=None, keepdim=False, interpolation="linear"):
    return _quantile(self, q, dim, keepdim, interpolation, False)


def nanquantile(self, q, dim=None, keepdim=False, interpolation="linear"):
    return _quantile(self, q, dim, keepdim, interpolation, True)


def embedding_bag(weight, indices, offsets, scale_grad_by_freq=False, mode=0, sparse=False, per_sample_weights=None,
                  include_last_offset=False, padding_idx=None):
    rows = offsets.shape[0] - 1 if include_last_offset else offsets.shape[0]
    padding = -1 if padding_idx is None else padding_idx % max(weight.shape[0], 1)
    if torch.is_grad_enabled() and (
        weight.requires_grad or per_sample_weights is not None and per_sample_weights.requires_grad
    ):
        return torch.ops.aten._embedding_bag(
            weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding
        )
    return torch.ops.aten._embedding_bag_forward_only(
        weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding
    )
