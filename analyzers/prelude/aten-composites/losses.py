import torch

_MEAN = 1
_SUM = 2


def _reduced(loss, reduction):
    if reduction == _MEAN:
        return loss.mean()
    if reduction == _SUM:
        return loss.sum()
    return loss


def _from_number(number, tensor):
    return torch.empty_like(tensor).fill_(number).sub_(tensor)


def kl_div(self, target, reduction=1, log_target=False):
    if log_target:
        return _reduced(torch.exp(target) * (target - self), reduction)
    return _reduced(torch.xlogy(target, target) - target * self, reduction)


def margin_ranking_loss(input1, input2, target, margin=0.0, reduction=1):
    return _reduced((-target * (input1 - input2) + margin).clamp_min_(0), reduction)


def hinge_embedding_loss(self, target, margin=1.0, reduction=1):
    zeros = torch.zeros_like(self)
    margins = _from_number(margin, self).clamp_min_(0)
    apart = torch.where(target != 1, margins, zeros)
    near = torch.where(target != -1, self, zeros)
    return _reduced(apart + near, reduction)


def cosine_embedding_loss(input1, input2, target, margin=0.0, reduction=1):
    dim = 0 if target.dim() == 0 else 1
    product = (input1 * input2).sum(dim)
    size1 = (input1 * input1).sum(dim) + 1e-12
    size2 = (input2 * input2).sum(dim) + 1e-12
    cosine = product / (size1 * size2).sqrt_()
    zeros = torch.zeros_like(cosine)
    near = torch.where(target == 1, _from_number(1, cosine), zeros)
    apart = torch.where(target == -1, (cosine - margin).clamp_min_(0), zeros)
    return _reduced(near + apart, reduction)


def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2.0, eps=1e-6, swap=False, reduction=1):
    to_positive = torch.pairwise_distance(anchor, positive, p, eps)
    to_negative = torch.pairwise_distance(anchor, negative, p, eps)
    if swap:
        to_negative = torch.min(to_negative, torch.pairwise_distance(positive, negative, p, eps))
    return _reduced(torch.clamp_min((to_positive + margin) - to_negative, 0), reduction)


def pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdim=False):
    return torch.ops.aten.norm.ScalarOpt_dim(x1 - x2 + eps, p, [max(x1.dim(), x2.dim()) - 1], keepdim)


def poisson_nll_loss(input, target, log_input, full, eps, reduction):
    if log_input:
        loss = torch.exp(input) - target * input
    else:
        loss = input - target * torch.log(input + eps)
    if full:
        stirling = target * torch.log(target) - target + 0.5 * torch.log(2 * 3.14159265 * target)
        loss += stirling.masked_fill(target <= 1, 0)
    return _reduced(loss, reduction)


def multilabel_margin_loss(self, target, reduction=1):
    return torch.ops.aten.multilabel_margin_loss_forward(self, target, reduction)[0]


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction=1, zero_infinity=False):
    lengths = target_lengths
    targets = targets.to(torch.int64)
    if isinstance(target_lengths, torch.Tensor):
        loss = torch.ops.aten._ctc_loss(
            log_probs, targets, input_lengths.tolist(), target_lengths.tolist(), blank, zero_infinity
        )[0]
    else:
        loss = torch.ops.aten._ctc_loss(
            log_probs, targets, list(input_lengths), list(target_lengths), blank, zero_infinity
        )[0]
        lengths = torch.tensor(list(target_lengths), dtype=torch.int64)
    if zero_infinity:
        loss = torch.where(loss == float("inf"), 0.0, loss)
    if reduction == _MEAN:
        return (loss / lengths.to(loss.dtype).clamp_min(1)).mean()
    return _reduced(loss, reduction)


def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    a, b = torch.ops.aten.broadcast_tensors([x1, x2])
    size1 = torch.linalg.vector_norm(a, 2, dim, True).clone()
    size2 = torch.linalg.vector_norm(b, 2, dim, True).clone()
    with torch.no_grad():
        size1.clamp_min_(eps)
        size2.clamp_min_(eps)
    return ((a / size1) * (b / size2)).sum(dim)


def nll_loss(self, target, weight=None, reduction=1, ignore_index=-100):
    return torch.ops.aten.nll_loss_forward(self, target, weight, reduction, ignore_index)[0]


def nll_loss2d(self, target, weight=None, reduction=1, ignore_index=-100):
    return torch.ops.aten.nll_loss2d_forward(self, target, weight, reduction, ignore_index)[0]


def _class_weights(weight, rank, dim):
    if rank == 1:
        return weight
    sizes = [1] * rank
    sizes[dim] = weight.shape[0]
    return weight.view(sizes)


def _cross_entropy_of_probabilities(self, target, weight, reduction, smoothing):
    dim = 0 if self.dim() == 1 else 1
    logs = torch.ops.aten._log_softmax(self, dim, False)
    classes = logs.shape[dim]
    if smoothing > 0.0:
        target = target * (1 - smoothing) + smoothing / classes
    product = logs * target
    if weight is not None:
        product = product * _class_weights(weight, logs.dim(), dim)
    if reduction == _MEAN:
        return -product.sum() / (max(logs.numel(), 1) // classes)
    if reduction == _SUM:
        return -product.sum()
    return -product.sum(dim)


def _smoothed_cross_entropy(self, target, weight, reduction, ignore_index, smoothing):
    dim = 0 if self.dim() == 1 else 1
    logs = torch.ops.aten._log_softmax(self, dim, False)
    plain = torch.ops.aten.nll_loss_nd(logs, target, weight, reduction, ignore_index)
    if weight is None:
        smooth = -logs.sum(dim)
    else:
        smooth = -(logs * _class_weights(weight, logs.dim(), dim)).sum(dim)
    ignored = target == ignore_index
    smooth.masked_fill_(ignored, 0.0)
    if reduction == _MEAN:
        if weight is None:
            smooth = smooth.sum() / (~ignored).sum()
        else:
            smooth = smooth.sum() / weight.gather(0, target.masked_select(~ignored).flatten()).sum()
    elif reduction == _SUM:
        smooth = smooth.sum()
    return plain * (1 - smoothing) + smooth * (smoothing / logs.shape[dim])


def cross_entropy_loss(self, target, weight=None, reduction=1, ignore_index=-100, label_smoothing=0.0):
    if target.is_floating_point() or target.is_complex():
        return _cross_entropy_of_probabilities(self, target, weight, reduction, label_smoothing)
    if label_smoothing > 0.0:
        return _smoothed_cross_entropy(self, target, weight, reduction, ignore_index, label_smoothing)
    logs = torch.ops.aten._log_softmax(self, 0 if self.dim() == 1 else 1, False)
    return torch.ops.aten.nll_loss_nd(logs, target, weight, reduction, ignore_index)


def nll_loss_nd(self, target, weight=None, reduction=1, ignore_index=-100):
    if self.dim() < 3:
        return torch.ops.aten.nll_loss_forward(self, target, weight, reduction, ignore_index)[0]
    if self.dim() == 4:
        return torch.ops.aten.nll_loss2d_forward(self, target, weight, reduction, ignore_index)[0]
    sizes = [self.shape[0]] + list(self.shape[2:])
    flat = self.contiguous().view([self.shape[0], self.shape[1], 1, -1])
    labels = target.contiguous().view([self.shape[0], 1, -1])
    loss = torch.ops.aten.nll_loss2d_forward(flat, labels, weight, reduction, ignore_index)[0]
    return loss.view(sizes) if reduction == 0 else loss


def log_sigmoid(self):
    return torch.ops.aten.log_sigmoid_forward(self)[0]
