import torch


def kl_divergence(p, q):
    if isinstance(p, Normal) and isinstance(q, Normal):
        ratio = (p.scale / q.scale).pow(2)
        distance = ((p.loc - q.loc) / q.scale).pow(2)
        return 0.5 * (ratio + distance - 1 - ratio.log())
    if isinstance(p, Independent) and isinstance(q, Independent):
        return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)
    if isinstance(p, OneHotCategorical) and isinstance(q, OneHotCategorical):
        return kl_divergence(p._categorical, q._categorical)
    if isinstance(p, Categorical) and isinstance(q, Categorical):
        t = p.probs * (p.logits - q.logits)
        t[(q.probs == 0).expand_as(t)] = float("inf")
        t[(p.probs == 0).expand_as(t)] = 0
        return t.sum(-1)
    if isinstance(p, Bernoulli) and isinstance(q, Bernoulli):
        softplus = torch.ops.aten.softplus
        first = p.probs * (softplus(-q.logits) - softplus(-p.logits))
        first[q.probs == 0] = float("inf")
        first[p.probs == 0] = 0
        second = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
        second[q.probs == 1] = float("inf")
        second[p.probs == 1] = 0
        return first + second
    for (left, right), function in _REGISTERED.items():
        if isinstance(p, left) and isinstance(q, right):
            return function(p, q)
    return p.entropy() - q.log_prob(p.mean)


_REGISTERED = {}


def register_kl(type_p, type_q):
    def register(function):
        _REGISTERED[(type_p, type_q)] = function
        return function

    return register
