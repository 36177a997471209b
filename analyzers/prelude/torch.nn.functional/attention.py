import torch


def _additive(mask, dtype):
    """A boolean mask converted to numbers to add; any other mask is returned unchanged."""
    if mask is not None and mask.dtype == torch.bool:
        return torch.zeros_like(mask, dtype=dtype).masked_fill_(mask, float("-inf"))
    return mask


def _parts(projected, n, size):
    return projected.unflatten(-1, (n, size)).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()


def _packed_projection(q, k, v, weight, bias):
    """A single product for arguments that are the same tensor: three, two or one in total."""
    size = q.size(-1)
    if k is v:
        if q is k:
            both = _parts(torch.ops.aten.linear(q, weight, bias), 3, size)
            return both[0], both[1], both[2]
        weights = weight.split([size, size * 2])
        biases = (None, None) if bias is None else bias.split([size, size * 2])
        query = torch.ops.aten.linear(q, weights[0], biases[0])
        both = _parts(torch.ops.aten.linear(k, weights[1], biases[1]), 2, size)
        return query, both[0], both[1]
    weights = weight.chunk(3)
    biases = (None, None, None) if bias is None else bias.chunk(3)
    return (
        torch.ops.aten.linear(q, weights[0], biases[0]),
        torch.ops.aten.linear(k, weights[1], biases[1]),
        torch.ops.aten.linear(v, weights[2], biases[2]),
    )


def multi_head_attention_forward(
    query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v, add_zero_attn,
    dropout_p, out_proj_weight, out_proj_bias, training=True, key_padding_mask=None, need_weights=True,
    attn_mask=None, use_separate_proj_weight=False, q_proj_weight=None, k_proj_weight=None, v_proj_weight=None,
    static_k=None, static_v=None, average_attn_weights=True, is_causal=False,
):
    batched = query.dim() == 3
    if not batched:
        query = query.unsqueeze(1)
        key = key.unsqueeze(1)
        value = value.unsqueeze(1)
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    length, batch, size = query.shape
    head = size // num_heads
    key_padding_mask = _additive(key_padding_mask, query.dtype)
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = None
    else:
        attn_mask = _additive(attn_mask, query.dtype)
        if key_padding_mask is not None:
            is_causal = False

    if use_separate_proj_weight:
        biases = (None, None, None) if in_proj_bias is None else in_proj_bias.chunk(3)
        q = torch.ops.aten.linear(query, q_proj_weight, biases[0])
        k = torch.ops.aten.linear(key, k_proj_weight, biases[1])
        v = torch.ops.aten.linear(value, v_proj_weight, biases[2])
    else:
        q, k, v = _packed_projection(query, key, value, in_proj_weight, in_proj_bias)
    if attn_mask is not None and attn_mask.dim() == 2:
        attn_mask = attn_mask.unsqueeze(0)
    if bias_k is not None:
        k = torch.cat([k, bias_k.repeat(1, batch, 1)])
        v = torch.cat([v, bias_v.repeat(1, batch, 1)])
        attn_mask = _one_more(attn_mask)
        key_padding_mask = _one_more(key_padding_mask)

    q = q.view(length, batch * num_heads, head).transpose(0, 1)
    k = k.view(k.size(0), batch * num_heads, head).transpose(0, 1) if static_k is None else static_k
    v = v.view(v.size(0), batch * num_heads, head).transpose(0, 1) if static_v is None else static_v
    if add_zero_attn:
        zeros = torch.zeros((batch * num_heads, 1, head), dtype=k.dtype)
        k = torch.cat([k, zeros], dim=1)
        v = torch.cat([v, zeros], dim=1)
        attn_mask = _one_more(attn_mask)
        key_padding_mask = _one_more(key_padding_mask)
    sources = k.size(1)
    if key_padding_mask is not None:
        padding = key_padding_mask.view(batch, 1, 1, sources).expand(-1, num_heads, -1, -1)
        padding = padding.reshape(batch * num_heads, 1, sources)
        attn_mask = padding if attn_mask is None else attn_mask + padding
    if not training:
        dropout_p = 0.0

    if not need_weights:
        if attn_mask is not None:
            if attn_mask.size(0) == 1:
                attn_mask = attn_mask.unsqueeze(0)
            else:
                attn_mask = attn_mask.view(batch, num_heads, -1, sources)
        q = q.view(batch, num_heads, length, head)
        k = k.view(batch, num_heads, sources, head)
        v = v.view(batch, num_heads, sources, head)
        output = torch.ops.aten.scaled_dot_product_attention(q, k, v, attn_mask, dropout_p, is_causal)
        output = output.permute(2, 0, 1, 3).reshape(batch * length, size)
        output = torch.ops.aten.linear(output, out_proj_weight, out_proj_bias)
        output = output.view(length, batch, output.size(1))
        return output if batched else output.squeeze(1), None

    q = q * 0.5
    if attn_mask is None:
        weights = torch.bmm(q, k.transpose(-2, -1))
    else:
        weights = torch.baddbmm(attn_mask, q, k.transpose(-2, -1))
    weights = weights.softmax(-1)
    if dropout_p > 0.0:
        weights = torch.ops.aten.dropout(weights, dropout_p, True)
    output = torch.bmm(weights, v).transpose(0, 1).reshape(length * batch, size)
    output = torch.ops.aten.linear(output, out_proj_weight, out_proj_bias)
    output = output.view(length, batch, output.size(1))
    weights = weights.view(batch, num_heads, length, sources)
    if average_attn_weights:
        weights = weights.mean(dim=1)
    if not batched:
        return output.squeeze(1), weights.squeeze(0)
    return output, weights


def _one_more(mask):
    return None if mask is None else torch.ops.aten.pad(mask, (0, 1))
