import math

import autograd_machine
import torch


def _misfit(query, other):
    return any([query.size(0) != other.size(0), query.size(3) != other.size(3), query.size(2) == 0, other.size(2) == 0])


def _fused(query, key, value, attn_mask, dropout_p, enable_gqa):
    """Whether the fused kernel, which has a single node, accepts these arguments."""
    presumably = autograd_machine.presumably
    if presumably(any([dropout_p > 0.0, query.dim() != 4, key.dim() != 4, value.dim() != 4]), False):
        return False
    if presumably(any([_misfit(query, key), _misfit(query, value), key.size(1) != value.size(1)]), False):
        return False
    if presumably(query.size(1) != key.size(1), False) and not (enable_gqa and query.size(1) % key.size(1) == 0):
        return False
    if attn_mask is None:
        return True
    if attn_mask.requires_grad or attn_mask.size(-2) not in (1, query.size(2)):
        return False
    if attn_mask.size(-1) not in (1, key.size(2)):
        return False
    if attn_mask.dim() == 2:
        return True
    if attn_mask.dim() != 4:
        return False
    return attn_mask.size(0) in (1, query.size(0)) and attn_mask.size(1) in (1, query.size(1))


def _additive(mask, dtype):
    """A boolean mask converted to numbers to add; any other mask is returned unchanged."""
    if mask is None or mask.dtype != torch.bool:
        return mask
    return torch.zeros_like(mask, dtype=dtype).masked_fill_(mask, float("-inf"))


def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None,
                                 enable_gqa=False):
    if _fused(query, key, value, attn_mask, dropout_p, enable_gqa):
        mask = _additive(attn_mask, query.dtype)
        return torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
            query, key, value, dropout_p, is_causal, attn_mask=mask, scale=scale)[0]
    return _by_parts(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)


def _by_parts(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa):
    factor = math.sqrt(1.0 / math.sqrt(query.size(-1)) if scale is None else abs(scale))
    size = (query.size(-2), key.size(-2))
    query = query * factor
    if is_causal:
        attn_mask = torch.ones(size, dtype=torch.bool).tril()
    attn_mask = _additive(attn_mask, query.dtype)
    if enable_gqa:
        key = key.repeat_interleave(query.size(-3) // key.size(-3), -3)
        value = value.repeat_interleave(query.size(-3) // value.size(-3), -3)
    weights = torch.matmul(query, key.transpose(-2, -1) * factor)
    if attn_mask is not None:
        weights.add_(attn_mask)
    weights = torch.ops.aten._safe_softmax(weights, -1)
    if dropout_p > 0.0:
        weights = torch.ops.aten.dropout(weights, dropout_p, True)
    return torch.matmul(weights, value)
