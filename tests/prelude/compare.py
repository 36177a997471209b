"""What autograd sees of a call: the graph behind what it returns, and which tensors it wrote."""

import torch


def tensors_in(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        return [t for v in value.values() for t in tensors_in(v)]
    if isinstance(value, (tuple, list)):
        return [t for v in value for t in tensors_in(v)]
    return []


def fresh(value, copies=None):
    """A copy of arguments with leaves in the place of tensors; a tensor that is there twice stays one."""
    copies = {} if copies is None else copies
    if isinstance(value, torch.Tensor):
        if id(value) not in copies:
            copies[id(value)] = value.detach().clone().requires_grad_(value.requires_grad)
        return copies[id(value)]
    if isinstance(value, dict):
        return {k: fresh(v, copies) for k, v in value.items()}
    if type(value) in (tuple, list):
        return type(value)(fresh(v, copies) for v in value)
    return value


def graph(root, names):
    """The graph behind a tensor: node names, in the order of a walk, with the leaves by name."""
    lines, seen = [], {}

    def visit(node):
        if node is None:
            return "-"
        if node in seen:
            return seen[node]
        seen[node] = f"#{len(seen)}"
        label = node.name()
        if label == "torch::autograd::AccumulateGrad":
            label = f"leaf {names.get(id(node.variable), '?')}"
        mine = seen[node]
        index = len(lines)
        lines.append("")
        lines[index] = f"{mine} {label}({', '.join(visit(n) for n, _ in node.next_functions)})"
        return mine

    visit(root.grad_fn)
    return lines


def observe(call, inputs):
    """`inputs` are named tensors (arguments, parameters, buffers) that stay the same objects during the call."""
    names = {id(t): n for n, t in inputs}
    before = {n: t._version for n, t in inputs}
    result = call()
    outputs = []
    for t in tensors_in(result):
        outputs.append(
            {
                "shape": tuple(t.shape),
                "dtype": t.dtype,
                "requires_grad": t.requires_grad,
                "leaf": t.is_leaf,
                "view": t._is_view(),
                "is": names.get(id(t)),
                "graph": graph(t, names),
            }
        )
    return {"outputs": outputs, "written": sorted(n for n, t in inputs if t._version != before[n])}
