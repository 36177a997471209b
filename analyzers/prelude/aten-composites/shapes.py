import torch


def atleast_1d(self=None, tensors=None):
    if tensors is not None:
        return tuple(torch.ops.aten.atleast_1d(tensor) for tensor in tensors)
    return self.reshape([1]) if self.dim() == 0 else self


def atleast_2d(self=None, tensors=None):
    if tensors is not None:
        return tuple(torch.ops.aten.atleast_2d(tensor) for tensor in tensors)
    if self.dim() == 0:
        return self.reshape([1, 1])
    return self.unsqueeze(0) if self.dim() == 1 else self


def atleast_3d(self=None, tensors=None):
    if tensors is not None:
        return tuple(torch.ops.aten.atleast_3d(tensor) for tensor in tensors)
    if self.dim() == 0:
        return self.reshape([1, 1, 1])
    if self.dim() == 1:
        return self.unsqueeze(0).unsqueeze(-1)
    return self.unsqueeze(-1) if self.dim() == 2 else self


def vstack(tensors):
    return torch.cat(torch.ops.aten.atleast_2d(tensors), 0)


def row_stack(tensors):
    return torch.cat(torch.ops.aten.atleast_2d(tensors), 0)


def hstack(tensors):
    parts = torch.ops.aten.atleast_1d(tensors)
    return torch.cat(parts, 0 if parts[0].dim() == 1 else 1)


def dstack(tensors):
    return torch.cat(torch.ops.aten.atleast_3d(tensors), 2)


def column_stack(tensors):
    return torch.cat([t.reshape([t.numel(), 1]) if t.dim() <= 1 else t for t in tensors], 1)


def fliplr(self):
    return self.flip([1])


def flipud(self):
    return self.flip([0])


def tile(self, dims):
    dims = list(dims)
    return self.repeat([1] * (self.dim() - len(dims)) + dims)


def unflatten(self, dim, sizes):
    dim = dim % self.dim()
    sizes = list(sizes)
    if -1 in sizes:
        known = 1
        for size in sizes:
            known = known * size if size != -1 else known
        sizes[sizes.index(-1)] = self.shape[dim] // known
    return self.view(list(self.shape[:dim]) + sizes + list(self.shape[dim + 1:]))


def diag(self, diagonal=0):
    if self.dim() == 1:
        return torch.diag_embed(self, diagonal)
    return torch.ops.aten.diagonal_copy(self, diagonal)


def diagflat(self, offset=0):
    return self.contiguous().view(-1).diag(offset)


def meshgrid(tensors, indexing="ij"):
    order = list(range(len(tensors)))
    if indexing == "xy" and len(order) > 1:
        order[0], order[1] = 1, 0
    sizes = [tensors[i].numel() for i in order]
    grids = []
    for i in range(len(tensors)):
        view = [1] * len(tensors)
        view[order[i]] = tensors[i].numel()
        grids.append(tensors[i].view(view).expand(sizes))
    return tuple(grids)


def cartesian_prod(tensors):
    if len(tensors) == 1:
        return tensors[0]
    grids = torch.ops.aten.meshgrid(tensors)
    return torch.stack([grid.flatten() for grid in grids], 1)


def combinations(self, r=2, with_replacement=False):
    if r == 0:
        return torch.empty(0, dtype=self.dtype)
    n = self.numel()
    grids = torch.ops.aten.meshgrid([self] * r)
    mask = torch.ones([n] * r, dtype=torch.bool)
    return torch.stack([grid.masked_select(mask) for grid in grids], 1)


def _section(self, dim, start, end):
    return torch.ops.aten.slice(self, dim, start, end)


def tensor_split(self, sections=None, indices=None, dim=0, tensor_indices_or_sections=None):
    size = self.shape[dim]
    parts = []
    start = 0
    if sections is not None:
        shortest, longer = size // sections, size % sections
        for i in range(sections):
            length = shortest + 1 if i < longer else shortest
            parts.append(_section(self, dim, start, start + length))
            start = start + length
        return tuple(parts)
    if tensor_indices_or_sections is not None:
        if tensor_indices_or_sections.dim() == 0:
            return torch.ops.aten.unsafe_chunk(self, tensor_indices_or_sections.item(), dim)
        indices = tensor_indices_or_sections.tolist()
    for end in indices:
        parts.append(_section(self, dim, start, end))
        start = end
    parts.append(_section(self, dim, start, size))
    return tuple(parts)


def _split_at(self, sections, indices, dim):
    if sections is not None:
        return torch.ops.aten.tensor_split(self, sections, dim)
    return torch.ops.aten.tensor_split(self, list(indices), dim)


def hsplit(self, sections=None, indices=None):
    return _split_at(self, sections, indices, 0 if self.dim() == 1 else 1)


def vsplit(self, sections=None, indices=None):
    return _split_at(self, sections, indices, 0)


def dsplit(self, sections=None, indices=None):
    return _split_at(self, sections, indices, 2)


def unsafe_chunk(self, chunks, dim=0):
    size = self.shape[dim]
    return torch.ops.aten.unsafe_split(self, (size + chunks - 1) // chunks, dim)


def take_along_dim(self, indices, dim=None):
    if dim is None:
        return self.view(-1).gather(0, indices.view(-1))
    indices = torch.where(indices < 0, indices + 1, indices)
    rank = self.dim()
    dim = dim % rank
    shape = [self.shape[d] if self.shape[d] != 1 else indices.shape[d] for d in range(rank)]
    mine, theirs = list(shape), list(shape)
    mine[dim] = self.shape[dim]
    theirs[dim] = indices.shape[dim]
    return self.expand(mine).gather(dim, indices.expand(theirs))


def repeat_interleave(self, repeats, dim=None, output_size=None):
    source = self
    if dim is None:
        source = self.flatten()
        dim = 0
    if isinstance(repeats, int):
        dim = dim % max(source.dim(), 1)
        shape = list(source.shape)
        wide = source.unsqueeze(dim + 1).expand(shape[:dim + 1] + [repeats] + shape[dim + 1:])
        return wide.clone().flatten(dim, dim + 1)
    return source.index_select(dim, torch.ops.aten.repeat_interleave.Tensor(repeats, output_size=output_size))


def sum_to_size(self, size):
    shape = self.shape
    lead = len(shape) - len(size)
    dims = list(range(lead)) + [i for i in range(lead, len(shape)) if size[i - lead] == 1 and shape[i] != 1]
    if len(size) == 0:
        return self.sum()
    if not dims and lead == 0:
        return self
    result = self.sum(dims, True)
    return result.view(size) if lead > 0 else result


def movedim(self, source, destination):
    rank = self.dim()
    if isinstance(source, int):
        source, destination = [source], [destination]
    source = [d % rank for d in source]
    destination = [d % rank for d in destination]
    order = [-1] * rank
    for i in range(len(source)):
        order[destination[i]] = source[i]
    rest = [d for d in range(rank) if d not in source]
    for i in range(rank):
        if order[i] == -1:
            order[i] = rest.pop(0)
    return self.permute(order)


def moveaxis(self, source, destination):
    return self.movedim(source, destination)


def argsort(self, dim=-1, descending=False, stable=None):
    return self.sort(dim, descending)[1]


def msort(self):
    return self.sort(0, False)[0]


def nonzero_numpy(self):
    if self.dim() == 0:
        return self.unsqueeze(0).nonzero().unbind(1)
    return self.nonzero().unbind(1)


def diff(self, n=1, dim=-1, prepend=None, append=None):
    if n == 0:
        return torch.zeros_like(self).copy_(self)
    source = _extended(self, dim, prepend, append)
    for _ in range(min(n, source.shape[dim])):
        source = _difference(source, dim)
    return source


def diff_out(self, n=1, dim=-1, prepend=None, append=None, out=None):
    if n == 0:
        return (out if out.shape == self.shape else out.resize_as_(self)).copy_(self)
    source = _extended(self, dim, prepend, append)
    for _ in range(min(n, source.shape[dim]) - 1):
        source = _difference(source, dim)
    return _difference(source, dim, out=out)


def _extended(source, dim, prepend, append):
    parts = [part for part in (prepend, source, append) if part is not None]
    return torch.cat(parts, dim) if len(parts) > 1 else source


def _difference(source, dim, **to):
    rest = source.shape[dim] - 1
    after, before = source.narrow(dim, 1, rest), source.narrow(dim, 0, rest)
    return torch.logical_xor(after, before, **to) if source.dtype == torch.bool else torch.sub(after, before, **to)


def fill_diagonal_(self, fill_value, wrap=False):
    self.diagonal().fill_(fill_value)
    if wrap and self.dim() == 2 and self.shape[0] > self.shape[1] + 1:
        self[self.shape[1] + 1 :].diagonal().fill_(fill_value)
    return self


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    longest = max([s.size(0) for s in sequences])
    rest = list(sequences[0].shape[1:])
    shape = [len(sequences), longest] if batch_first else [longest, len(sequences)]
    out = torch.full(shape + rest, padding_value, dtype=sequences[0].dtype)
    for i in range(len(sequences)):
        length = sequences[i].size(0)
        column = out.select(0 if batch_first else 1, i)
        column = column.narrow(0, 0 if padding_side == "right" else longest - length, length)
        column.copy_(sequences[i])
    return out


def flatten_dense_tensors(tensors):
    flat = [t.contiguous().view([-1]) for t in tensors]
    return flat[0] if len(flat) == 1 else torch.cat(flat)


def to_sparse(self, sparse_dim=None, layout=None, blocksize=None, dense_dim=None):
    if sparse_dim is not None:
        return torch.ops.aten._to_sparse(self, sparse_dim)
    return torch.ops.aten._to_sparse(self, layout=layout, blocksize=blocksize, dense_dim=dense_dim)
