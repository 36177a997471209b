import autograd_machine
import torch


def einsum(*args):
    equation = args[0]
    if isinstance(equation, str):
        operands = args[1:]
        if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
            operands = operands[0]
        return torch.ops.aten.einsum(equation, list(operands))
    return autograd_machine.unknown(args)


def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    if p == "nuc":
        return torch.linalg.matrix_norm(input, "nuc", (-2, -1) if dim is None else dim, keepdim, dtype=dtype, out=out)
    order = 2.0 if p == "fro" or p is None else p
    return torch.linalg.vector_norm(input, order, dim, keepdim, dtype=dtype, out=out)


def block_diag(*tensors):
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tensors[0]
    return torch.ops.aten.block_diag(list(tensors))


def cartesian_prod(*tensors):
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tensors[0]
    return torch.ops.aten.cartesian_prod(list(tensors))


def broadcast_tensors(*tensors):
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tensors[0]
    return tuple(torch.ops.aten.broadcast_tensors(list(tensors)))


def broadcast_shapes(*shapes):
    shapes = [(shape,) if isinstance(shape, int) else tuple(shape) for shape in shapes]
    sizes = [1] * max([len(shape) for shape in shapes])
    for shape in shapes:
        for i in range(-len(shape), 0):
            if shape[i] != 1:
                sizes[i] = shape[i]
    return torch.Size(sizes)


def meshgrid(*tensors, indexing=None):
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tensors[0]
    if indexing is None:
        return tuple(torch.ops.aten.meshgrid(list(tensors)))
    return tuple(torch.ops.aten.meshgrid(list(tensors), indexing=indexing))


def atleast_1d(*tensors):
    if len(tensors) == 1 and not isinstance(tensors[0], (list, tuple)):
        return torch.ops.aten.atleast_1d(tensors[0])
    return tuple(torch.ops.aten.atleast_1d(list(tensors[0] if len(tensors) == 1 else tensors)))


def atleast_2d(*tensors):
    if len(tensors) == 1 and not isinstance(tensors[0], (list, tuple)):
        return torch.ops.aten.atleast_2d(tensors[0])
    return tuple(torch.ops.aten.atleast_2d(list(tensors[0] if len(tensors) == 1 else tensors)))


def atleast_3d(*tensors):
    if len(tensors) == 1 and not isinstance(tensors[0], (list, tuple)):
        return torch.ops.aten.atleast_3d(tensors[0])
    return tuple(torch.ops.aten.atleast_3d(list(tensors[0] if len(tensors) == 1 else tensors)))


_CDIST = {"use_mm_for_euclid_dist_if_necessary": None, "use_mm_for_euclid_dist": 1, "donot_use_mm_for_euclid_dist": 2}


def cdist(x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
    return torch.ops.aten.cdist(x1, x2, p, _CDIST[compute_mode])


def tensordot(a, b, dims=2, out=None):
    if isinstance(dims, int):
        left, right = list(range(-dims, 0)), list(range(dims))
    else:
        left, right = dims
        left = [left] if isinstance(left, int) else list(left)
        right = [right] if isinstance(right, int) else list(right)
    if out is None:
        return torch.ops.aten.tensordot(a, b, left, right)
    return torch.ops.aten.tensordot(a, b, left, right, out=out)


def chain_matmul(*matrices, out=None):
    return torch.ops.aten.chain_matmul(list(matrices))


def stft(input, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode="reflect",
         normalized=False, onesided=None, return_complex=None, align_to_window=None):
    if center:
        shape = input.shape
        input = torch.ops.aten.pad(input.view(*[1] * (3 - len(shape)), *shape), [n_fft // 2, n_fft // 2], pad_mode)
        input = input.view(input.shape[-len(shape):])
    return torch.ops.aten.stft(input, n_fft, hop_length, win_length, window, normalized, onesided, return_complex)


def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    if dim is not None:
        found = torch.ops.aten.unique_dim(input, dim, sorted, return_inverse, return_counts)
    else:
        found = torch.ops.aten._unique2(input, sorted, return_inverse, return_counts)
    return _unique(found, return_inverse, return_counts)


def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    found = torch.ops.aten.unique_consecutive(input, return_inverse, return_counts, dim)
    return _unique(found, return_inverse, return_counts)


def _unique(found, return_inverse, return_counts):
    if return_inverse and return_counts:
        return found
    if return_inverse:
        return found[0], found[1]
    if return_counts:
        return found[0], found[2]
    return found[0]


def lu(A, pivot=True, get_infos=False, out=None):
    factors, pivots, infos = torch.ops.aten._lu_with_info(A, pivot, not get_infos)
    result = (factors, pivots, infos) if get_infos else (factors, pivots)
    if out is None:
        return result
    for i in range(len(result)):
        out[i].resize_as_(result[i]).copy_(result[i])
    return out


def unravel_index(indices, shape):
    sizes = [shape] if isinstance(shape, int) else list(shape)
    steps = [1]
    for i in range(len(sizes) - 1, 0, -1):
        steps.insert(0, steps[0] * sizes[i])
    places = indices.unsqueeze(-1).floor_divide(torch.tensor(steps)) % torch.tensor(sizes)
    return places.unbind(-1)


def histogramdd(input, bins, *, range=None, weight=None, density=False):
    if isinstance(bins, int):
        bins = [bins] * input.shape[-1]
    if isinstance(bins[0], torch.Tensor):
        found = torch.ops.aten._histogramdd_from_bin_tensors(input, bins, weight=weight, density=density)
        return found, bins
    edges = torch.ops.aten._histogramdd_bin_edges(input, bins, range=range, weight=weight, density=density)
    found = torch.ops.aten._histogramdd_from_bin_cts(input, bins, range=range, weight=weight, density=density)
    return found, edges


def pca_lowrank(A, q=None, center=True, niter=2):
    if q is None:
        q = min(6, *A.shape[-2:])
    return svd_lowrank(A - A.mean(dim=(-2,), keepdim=True) if center else A, q, niter=niter)


def svd_lowrank(A, q=6, niter=2, M=None):
    tall = A.shape[-2] >= A.shape[-1]
    if M is not None:
        M = M.broadcast_to(A.size())
    if not tall:
        A, M = A.mH, None if M is None else M.mH
    Q = _approximate_basis(A, 6 if q is None else q, 2 if niter is None else niter, M)
    B = torch.matmul(Q.mH, A)
    if M is not None:
        B = B - torch.matmul(Q.mH, M)
    U, S, Vh = torch.linalg.svd(B, full_matrices=False)
    V = Vh.mH
    U = Q.matmul(U)
    return (U, S, V) if tall else (V, S, U)


def _approximate_basis(A, q, niter, M):
    Q = _basis_of_product(A, torch.randn(A.shape[-1], q, dtype=A.dtype), M)
    for _ in range(niter):
        Q = _basis_of_product(A.mH, Q, None if M is None else M.mH)
        Q = _basis_of_product(A, Q, M)
    return Q


def _basis_of_product(A, Q, M):
    X = torch.matmul(A, Q)
    if M is not None:
        X = X - torch.matmul(M, Q)
    return torch.linalg.qr(X).Q


def nonzero(input, *, out=None, as_tuple=False):
    if as_tuple:
        return torch.ops.aten.nonzero_numpy(input)
    return torch.ops.aten.nonzero(input) if out is None else torch.ops.aten.nonzero(input, out=out)
