import torch

def _labels(term):
    """The letters of a term, and "." for its ellipsis."""
    return [letter for letter in term.replace(" ", "").replace("...", ".")]


def _implicit(terms):
    """The output labels if none are given: those that occur once, in order."""
    seen = [label for term in terms for label in term]
    letters = [label for label in seen if label != "." and seen.count(label) == 1]
    return (["."] if "." in seen else []) + sorted(letters)


def _hidden(operand, labels):
    """How many dimensions an ellipsis stands for."""
    return operand.dim() - len(labels) + 1 if "." in labels else 0


def _aligned(operand, labels, order, hidden):
    """The operand with a dimension for each entry of `order`, in that order."""
    places = {}
    j = 0
    for label in labels:
        if label == ".":
            for _ in range(hidden - _hidden(operand, labels)):
                operand = operand.unsqueeze(j)
            for k in range(hidden):
                places["." + str(k)] = j
                j = j + 1
        elif label in places:
            dim = places[label]
            operand = operand.diagonal(0, dim, j).movedim(-1, dim)
        else:
            places[label] = j
            j = j + 1
    permutation = []
    for entry in order:
        if entry in places:
            permutation.append(places[entry])
        else:
            operand = operand.unsqueeze(-1)
            permutation.append(j)
            j = j + 1
    return operand.permute(permutation)


def _pair(a, b, summed):
    """The product of two operands with the same number of dimensions, summed over some of them."""
    if len(summed) == 0:
        return a * b
    both, left, right = [], [], []
    sizes = [1, 1, 1, 1]
    for i in range(a.dim()):
        in_a, in_b = a.shape[i] != 1, b.shape[i] != 1
        if i in summed:
            sizes[3] = sizes[3] * a.shape[i]
        elif in_a and in_b:
            both.append(i)
            sizes[0] = sizes[0] * a.shape[i]
        elif in_a:
            left.append(i)
            sizes[1] = sizes[1] * a.shape[i]
        else:
            right.append(i)
            sizes[2] = sizes[2] * b.shape[i]
    out = [a.shape[d] for d in both] + [a.shape[d] for d in left] + [1] * len(summed) + [b.shape[d] for d in right]
    order = both + left + summed + right
    x = a.permute(order).reshape(sizes[0], sizes[1], sizes[3])
    y = b.permute(both + summed + right + left).reshape(sizes[0], sizes[3], sizes[2])
    return torch.bmm(x, y).view(out).permute([order.index(d) for d in range(len(order))])


def einsum(equation, tensors, path=None):
    sides = equation.split("->")
    terms = [_labels(term) for term in sides[0].split(",")]
    output = _labels(sides[1]) if len(sides) > 1 else _implicit(terms)
    hidden = max([_hidden(tensors[i], terms[i]) for i in range(len(terms))])
    ellipsis = ["." + str(k) for k in range(hidden)]
    kept = []
    for label in output:
        kept += ellipsis if label == "." else [label]
    rest = []
    for label in [label for term in terms for label in term]:
        if label != "." and label not in output and label not in rest:
            rest.append(label)
    order = kept + ([] if "." in output else ellipsis) + sorted(rest)
    operands = [_aligned(tensors[i], terms[i], order, hidden) for i in range(len(terms))]
    counts = [sum([1 for operand in operands if operand.shape[d] != 1]) for d in range(len(order))]
    result = operands[0]
    for b in operands[1:]:
        now, in_a, in_b = [], [], []
        for d in range(len(kept), len(order)):
            if result.shape[d] != 1 and b.shape[d] != 1:
                counts[d] = counts[d] - 1
                if counts[d] == 1:
                    now.append(d)
                    counts[d] = 0
            elif counts[d] == 1:
                if result.shape[d] != 1:
                    in_a.append(d)
                    counts[d] = 0
                elif b.shape[d] != 1:
                    in_b.append(d)
                    counts[d] = 0
        a = result.sum(in_a, True) if len(in_a) > 0 else result
        b = b.sum(in_b, True) if len(in_b) > 0 else b
        result = _pair(a, b, now)
    if len(order) > len(kept):
        if len(operands) > 1:
            return result.view(list(result.shape[:len(kept)]))
        return result.sum(list(range(len(kept), len(order))))
    return result
