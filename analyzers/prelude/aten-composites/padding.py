import torch


def pad(self, pad, mode="constant", value=None):
    if mode == "constant":
        return torch.ops.aten.constant_pad_nd(self, pad, 0 if value is None else value)
    if mode == "circular":
        return torch.ops.aten._pad_circular(self, pad)
    if len(pad) == 2:
        return (torch.ops.aten.reflection_pad1d if mode == "reflect" else torch.ops.aten.replication_pad1d)(self, pad)
    if len(pad) == 4:
        return (torch.ops.aten.reflection_pad2d if mode == "reflect" else torch.ops.aten.replication_pad2d)(self, pad)
    return (torch.ops.aten.reflection_pad3d if mode == "reflect" else torch.ops.aten.replication_pad3d)(self, pad)


def _pad_circular(self, pad):
    n = len(pad) // 2
    first = self.dim() - n
    before = list(self.shape)
    after = list(self.shape)
    for i in range(n):
        after[first + i] = before[first + i] + pad[2 * (n - i - 1)] + pad[2 * (n - i - 1) + 1]
    out = torch.empty(after, dtype=self.dtype)
    target, source = out, self
    for i in range(n):
        dim = first + n - i - 1
        left, right = pad[2 * i], pad[2 * i + 1]
        target = torch.ops.aten.slice(target, dim, max(left, 0), after[dim] - max(right, 0))
        source = torch.ops.aten.slice(source, dim, max(-left, 0), before[dim] - max(-right, 0))
    target.copy_(source)
    for i in range(n):
        dim = first + n - i - 1
        left, right = pad[2 * i], pad[2 * i + 1]
        if left > 0:
            edge = after[dim] - max(right, 0)
            target = torch.ops.aten.slice(out, dim, 0, left)
            target.copy_(torch.ops.aten.slice(out, dim, edge - left, edge))
        if right > 0:
            edge = max(left, 0)
            target = torch.ops.aten.slice(out, dim, after[dim] - right, after[dim])
            target.copy_(torch.ops.aten.slice(out, dim, edge, edge + right))
    return out
