import autograd_machine
import torch

_REDUCTION = {"none": 0, "mean": 1, "elementwise_mean": 1, "sum": 2}


def _enum(reduction, size_average=None, reduce=None):
    if reduce is False:
        return 0
    if size_average is False:
        return 2
    return _REDUCTION[reduction]


def _reduced(loss, reduction):
    if reduction == "mean":
        return loss.mean()
    if reduction == "sum":
        return loss.sum()
    return loss


def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    input, target = torch.ops.aten.broadcast_tensors([input, target])
    if weight is None:
        return torch.ops.aten.mse_loss(input, target, _enum(reduction, size_average, reduce))
    loss = torch.pow(input - target, 2) * weight
    if reduction == "mean":
        return loss.sum() / weight.sum()
    return _reduced(loss, reduction)


def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    input, target = torch.ops.aten.broadcast_tensors([input, target])
    if weight is None:
        return torch.ops.aten.l1_loss(input, target, _enum(reduction, size_average, reduce))
    loss = torch.abs(input - target) * weight
    if reduction == "mean":
        return loss.sum() / weight.sum()
    return _reduced(loss, reduction)


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    input, target = torch.ops.aten.broadcast_tensors([input, target])
    if beta == 0.0:
        return torch.ops.aten.l1_loss(input, target, _enum(reduction, size_average, reduce))
    return torch.ops.aten.smooth_l1_loss(input, target, _enum(reduction, size_average, reduce), beta)


def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    input, target = torch.ops.aten.broadcast_tensors([input, target])
    if weight is None:
        return torch.ops.aten.huber_loss(input, target, _enum(reduction), delta)
    return _reduced(torch.ops.aten.huber_loss(input, target, 0, delta) * weight, reduction)


def cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean",
                  label_smoothing=0.0):
    reduction = _enum(reduction, size_average, reduce)
    return torch.ops.aten.cross_entropy_loss(input, target, weight, reduction, ignore_index, label_smoothing)


def linear_cross_entropy(input, linear_weight, target, *, linear_bias=None, weight=None, reduction="mean",
                         ignore_index=None, label_smoothing=0.0, options=None):
    classes = linear_weight.shape[:-1]
    if options is not None and label_smoothing == 0.0 and target.dtype == torch.int64 and len(classes) == 1:
        return _in_chunks(input, linear_weight, target, linear_bias, weight, reduction)
    if len(classes) > 1:
        linear_weight = linear_weight.reshape(-1, linear_weight.shape[-1])
        if linear_bias is not None:
            linear_bias = linear_bias.reshape(-1)
    logits = torch.ops.aten.linear(input, linear_weight, linear_bias).reshape(*input.shape[:-1], *classes)
    ignore_index = -100 if ignore_index is None else ignore_index
    return cross_entropy(logits, target, weight, ignore_index=ignore_index, reduction=reduction,
                         label_smoothing=label_smoothing)


def _in_chunks(input, linear_weight, target, linear_bias, weight, reduction):
    batched = input.dim() == 2
    if not batched:
        input = input.unsqueeze(0)
        target = target.unsqueeze(0)
    if reduction == "none":
        function = GeneratedBackwardFor_torch_nn__linear_cross_entropy_batch_chunked_no_reduction_default
    else:
        function = GeneratedBackwardFor_torch_nn__linear_cross_entropy_batch_chunked_default
    result = function.apply(input, linear_weight, target, linear_bias, weight)
    return result if batched else result.squeeze(0)


class GeneratedBackwardFor_torch_nn__linear_cross_entropy_batch_chunked_default(torch.autograd.Function):
    """The gradients are computed along with the loss, so the first backward needs none of the inputs."""

    @staticmethod
    def forward(ctx, input, linear_weight, target, linear_bias, weight):
        ctx.shapes = [input.shape, linear_weight.shape, None if linear_bias is None else linear_bias.shape]
        return torch.zeros((), dtype=input.dtype)

    @staticmethod
    def backward(ctx, grad):
        made = [None if shape is None else torch.zeros(shape, dtype=grad.dtype) for shape in ctx.shapes]
        return made[0], made[1], None, made[2], None


class GeneratedBackwardFor_torch_nn__linear_cross_entropy_batch_chunked_no_reduction_default(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, linear_weight, target, linear_bias, weight):
        ctx.save_for_backward(input, linear_weight, target, linear_bias, weight)
        return torch.zeros(input.shape[0], dtype=input.dtype)

    @staticmethod
    def backward(ctx, grad):
        input, linear_weight, target, linear_bias, weight = ctx.saved_tensors
        bias = None if linear_bias is None else torch.zeros_like(linear_bias)
        return torch.zeros_like(input), torch.zeros_like(linear_weight), None, bias, None


def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    return torch.ops.aten.nll_loss_nd(input, target, weight, _enum(reduction, size_average, reduce), ignore_index)


def poisson_nll_loss(input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None,
                     reduction="mean"):
    reduction = _enum(reduction, size_average, reduce)
    return torch.ops.aten.poisson_nll_loss(input, target, log_input, full, eps, reduction)


def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    if isinstance(var, float):
        var = var * torch.ones_like(input)
    elif var.dim() == input.dim() - 1:
        var = torch.unsqueeze(var, -1)
    var = var.clone()
    with torch.no_grad():
        var.clamp_(min=eps)
    loss = 0.5 * (torch.log(var) + (input - target) ** 2 / var)
    if full:
        loss += 0.9
    return _reduced(loss, reduction)


def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    if reduction == "batchmean":
        loss = torch.ops.aten.kl_div(input, target, 2, log_target=log_target)
        return loss if input.dim() == 0 else loss / input.size(0)
    return torch.ops.aten.kl_div(input, target, _enum(reduction, size_average, reduce), log_target=log_target)


def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    if autograd_machine.surely(target.size() != input.size()):
        raise ValueError("Using a target size that is different to the input size is deprecated.")
    if weight is not None:
        weight = weight.expand(target.size())
    return torch.ops.aten.binary_cross_entropy(input, target, weight, _enum(reduction, size_average, reduce))


def binary_cross_entropy_with_logits(input, target, weight=None, size_average=None, reduce=None, reduction="mean",
                                     pos_weight=None):
    if autograd_machine.surely(target.size() != input.size()):
        raise ValueError("Target size must be the same as input size")
    reduction = _enum(reduction, size_average, reduce)
    return torch.ops.aten.binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction)


def margin_ranking_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    return torch.ops.aten.margin_ranking_loss(input1, input2, target, margin, _enum(reduction, size_average, reduce))


def hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"):
    return torch.ops.aten.hinge_embedding_loss(input, target, margin, _enum(reduction, size_average, reduce))


def cosine_embedding_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    return torch.ops.aten.cosine_embedding_loss(input1, input2, target, margin, _enum(reduction, size_average, reduce))


def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    return torch.ops.aten.multilabel_margin_loss(input, target, _enum(reduction, size_average, reduce))


def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    return torch.ops.aten.soft_margin_loss(input, target, _enum(reduction, size_average, reduce))


def multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"):
    reduction = _enum(reduction, size_average, reduce)
    return torch.ops.aten.multi_margin_loss(input, target, p, margin, weight, reduction)


def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    positive = target * torch.ops.aten.log_sigmoid(input)
    loss = -(positive + (1 - target) * torch.ops.aten.log_sigmoid(-input))
    if weight is not None:
        loss = loss * weight
    class_dim = input.dim() - 1
    loss = loss.sum(dim=class_dim) / input.size(class_dim)
    reduction = _enum(reduction, size_average, reduce)
    if reduction == 1:
        return loss.mean()
    if reduction == 2:
        return loss.sum()
    return loss


def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, size_average=None,
                        reduce=None, reduction="mean"):
    reduction = _enum(reduction, size_average, reduce)
    return torch.ops.aten.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction)


def triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False,
                                      reduction="mean"):
    if distance_function is None:
        distance_function = torch.pairwise_distance
    near = distance_function(anchor, positive)
    far = distance_function(anchor, negative)
    if swap:
        far = torch.minimum(far, distance_function(positive, negative))
    return _reduced(torch.clamp_min(margin + near - far, 0), reduction)


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    return torch.ops.aten.ctc_loss(
        log_probs, targets, input_lengths, target_lengths, blank, _enum(reduction), zero_infinity
    )
