import torch


def linalg_det(A):
    return torch.ops.aten._linalg_det(A)[0]


def det(self):
    return torch.ops.aten._linalg_det(self)[0]


def linalg_slogdet(A):
    return torch.ops.aten._linalg_slogdet(A)[:2]


def slogdet(self):
    return torch.ops.aten._linalg_slogdet(self)[:2]


def logdet(self):
    sign, logabsdet = torch.ops.aten._linalg_slogdet(self)[:2]
    if self.is_complex():
        return sign.log() + logabsdet
    return torch.where(sign == -1.0, float("nan"), logabsdet)


def inverse(self):
    return torch.ops.aten.linalg_inv_ex(self)[0]


def linalg_inv(A):
    return torch.ops.aten.linalg_inv_ex(A)[0]


def linalg_cholesky(self, upper=False):
    return torch.ops.aten.linalg_cholesky_ex(self, upper=upper)[0]


def linalg_solve(A, B, left=True):
    return torch.ops.aten._linalg_solve_ex(A, B, left=left)[0]


def linalg_solve_ex(A, B, left=True, check_errors=False):
    found = torch.ops.aten._linalg_solve_ex(A, B, left=left, check_errors=check_errors)
    return found[0], found[3]


def linalg_eigvals(self):
    if torch.is_grad_enabled() and self.requires_grad:
        return torch.linalg.eig(self)[0]
    return torch.ops.aten._linalg_eigvals(self)


def linalg_eigvalsh(self, UPLO="L"):
    return torch.ops.aten._linalg_eigh(self, UPLO, True)[0]


def linalg_eigh(self, UPLO="L"):
    return torch.ops.aten._linalg_eigh(self, UPLO, True)


def linalg_svd(A, full_matrices=True, driver=None):
    return torch.ops.aten._linalg_svd(A, full_matrices, True, driver=driver)


def linalg_svdvals(A, driver=None):
    return torch.ops.aten._linalg_svd(A, False, torch.is_grad_enabled() and A.requires_grad, driver=driver)[1]


def svd(self, some=True, compute_uv=True):
    if compute_uv:
        u, s, vh = torch.ops.aten._linalg_svd(self, not some, True)
        return u, s, vh.mH
    s = linalg_svdvals(self)
    batch = self.shape[:-2]
    return (
        torch.zeros(*batch, self.shape[-2], self.shape[-2], dtype=self.dtype), s,
        torch.zeros(*batch, self.shape[-1], self.shape[-1], dtype=self.dtype),
    )


def svd_out(self, some=True, compute_uv=True, U=None, S=None, V=None):
    if compute_uv and V.dim() >= 2:
        V.transpose_(-2, -1)
    torch.linalg.svd(self, not some, out=(U, S, V))
    if compute_uv:
        V.transpose_(-2, -1)
    return U, S, V


def linalg_lu_factor(A, pivot=True):
    return torch.ops.aten.linalg_lu_factor_ex(A, pivot=pivot)[:2]


def linalg_ldl_factor(self, hermitian=False):
    return torch.ops.aten.linalg_ldl_factor_ex(self, hermitian=hermitian)[:2]


def lu_solve(self, LU_data, LU_pivots):
    return torch.ops.aten.linalg_lu_solve(LU_data, LU_pivots, self)


def _lu_with_info(self, pivot=True, check_errors=True):
    return torch.ops.aten.linalg_lu_factor_ex(self, pivot=pivot, check_errors=check_errors)


def qr(self, some=True):
    return torch.ops.aten.linalg_qr(self, "reduced" if some else "complete")


def pinverse(self, rcond=1e-15):
    return torch.ops.aten.linalg_pinv.atol_rtol_tensor(self)


def linalg_pinv(self, rcond=None, atol=None, rtol=None, hermitian=False):
    return torch.ops.aten.linalg_pinv.atol_rtol_tensor(self, hermitian=hermitian)


def _matrix_power(self, n):
    if n == 0:
        return self.clone().copy_(torch.eye(self.shape[-1], dtype=self.dtype))
    if n == 1:
        return self.clone()
    if n == -1:
        return torch.ops.aten.linalg_inv_ex(self)[0]
    base = self if n > 0 else torch.ops.aten.linalg_inv_ex(self)[0]
    n = abs(n)
    if n == 1:
        return base
    if n == 2:
        return torch.matmul(base, base)
    if n == 3:
        return torch.matmul(torch.matmul(base, base), base)
    return _power_by_squares(base, n)


def _power_by_squares(base, n, **to):
    """Only the last of the products gets the `out=`."""
    power = None
    result = None
    while n > 0:
        bit = n % 2
        n = n // 2
        power = base if power is None else torch.matmul(power, power)
        if bit == 1 and result is not None:
            result = torch.matmul(result, power) if n > 0 else torch.matmul(result, power, **to)
        elif bit == 1:
            result = power
    return result


def linalg_matrix_power(self, n):
    return _matrix_power(self, n)


def matrix_power(self, n):
    return _matrix_power(self, n)


def _matrix_power_out(self, n, out):
    if n == 0:
        return out.copy_(torch.eye(self.shape[-1], dtype=self.dtype))
    if n == -1:
        torch.linalg.inv(self, out=out)
        return out
    factor = self if n > 0 else torch.linalg.inv(self)
    if abs(n) == 2:
        return torch.matmul(factor, factor, out=out)
    if abs(n) == 3:
        return torch.matmul(torch.matmul(factor, factor), factor, out=out)
    found = _power_by_squares(factor, abs(n), out=out)
    return found if found is out else out.copy_(found)


def linalg_matrix_power_out(self, n, out=None):
    return _matrix_power_out(self, n, out)


def matrix_power_out(self, n, out=None):
    return _matrix_power_out(self, n, out)


def _vector_or_matrix_norm(self, ord, dim, keepdim, dtype):
    if ord is not None and (dim is None and self.dim() == 2 or dim is not None and not isinstance(dim, int) and len(dim) == 2):
        return torch.ops.aten.linalg_matrix_norm(self, ord, [0, 1] if dim is None else dim, keepdim, dtype=dtype)
    if dtype is None:
        return torch.ops.aten.linalg_vector_norm(self, 2 if ord is None else ord, dim, keepdim)
    return torch.ops.aten.linalg_vector_norm(self, 2 if ord is None else ord, dim, keepdim, dtype=dtype)


def linalg_norm(self, ord=None, dim=None, keepdim=False, dtype=None):
    if isinstance(ord, str):
        return torch.ops.aten.linalg_matrix_norm(self, ord, [0, 1] if dim is None else dim, keepdim, dtype=dtype)
    return _vector_or_matrix_norm(self, ord, dim, keepdim, dtype)


def _behind(rank, a, b):
    """The order of dimensions that puts `a` and `b` last."""
    return [d for d in range(rank) if d != a % rank and d != b % rank] + [a % rank, b % rank]


def _inverse_order(order):
    return [order.index(d) for d in range(len(order))]


def _back(result, order, keepdim):
    return result.unsqueeze(-1).permute(_inverse_order(order)) if keepdim else result


def linalg_matrix_norm(self, ord="fro", dim=(-2, -1), keepdim=False, dtype=None):
    rank = self.dim()
    first, second = dim[0] % rank, dim[1] % rank
    if ord == "fro":
        if dtype is None:
            return torch.ops.aten.linalg_vector_norm(self, 2, [first, second], keepdim)
        return torch.ops.aten.linalg_vector_norm(self, 2, [first, second], keepdim, dtype=dtype)
    order = _behind(rank, first, second)
    if ord == "nuc":
        source = self if dtype is None else self.to(dtype)
        result = linalg_svdvals(source.permute(order)).sum(-1, keepdim)
        return _back(result, order, keepdim)
    if abs(ord) == 2:
        source = self if dtype is None else self.to(dtype)
        values = linalg_svdvals(source.permute(order))
        result = _largest(values, -1, keepdim) if ord > 0 else values.amin(-1, keepdim)
        return _back(result, order, keepdim)
    if abs(ord) != 1:
        first, second = second, first
    if second > first and not keepdim:
        second = second - 1
    if dtype is None:
        columns = torch.ops.aten.linalg_vector_norm(self, 1, [first], keepdim)
    else:
        columns = torch.ops.aten.linalg_vector_norm(self, 1, [first], keepdim, dtype=dtype)
    return _largest(columns, second, keepdim) if ord > 0 else columns.amin(second, keepdim)


def _largest(values, dim, keepdim):
    """The largest value; for an empty input it is zero, without a graph."""
    if values.shape[dim] > 0:
        return values.amax(dim, keepdim)
    sizes = list(values.shape)
    if keepdim:
        sizes[dim] = 1
    else:
        sizes.pop(dim)
    return torch.zeros(sizes, dtype=values.dtype)


def nuclear_norm(self, dim=(-2, -1), keepdim=False):
    return torch.ops.aten.linalg_matrix_norm(self, "nuc", dim, keepdim)


def frobenius_norm(self, dim, keepdim=False):
    return torch.ops.aten.linalg_vector_norm(self, 2, dim, keepdim)


def linalg_cond(self, p=None):
    if p is None or p == 2 or p == -2:
        values = linalg_svdvals(self)
        smallest = values.narrow(-1, -1, 1)
        largest = values.narrow(-1, 0, 1)
        result = smallest / largest if p == -2 else largest / smallest
        return result.squeeze(-1)
    if p == "nuc":
        inverted = torch.ops.aten.linalg_inv_ex(self)[0]
    else:
        inverted, info = torch.ops.aten.linalg_inv_ex(self)
        inverted.masked_fill_(info.gt(0).unsqueeze(-1).unsqueeze(-1), float("inf"))
    return torch.ops.aten.linalg_matrix_norm(self, p) * torch.ops.aten.linalg_matrix_norm(inverted, p)


def linalg_vecdot_out(x, y, dim=-1, out=None):
    if x.dim() == 1 and y.dim() == 1:
        return torch.vdot(x, y, out=out)
    return torch.sum(x.conj() * y, dim, out=out)


def linalg_vecdot(x, y, dim=-1):
    if x.dim() == 1 and y.dim() == 1:
        return x.vdot(y)
    return x.conj().mul(y).sum(dim)


def linalg_matrix_exp(self):
    return torch.matrix_exp(self)


def _product(sizes):
    total = 1
    for size in sizes:
        total = total * size
    return total


def linalg_tensorinv(self, ind=2):
    front, behind = self.shape[:ind], self.shape[ind:]
    flat = self.reshape(_product(behind), _product(front))
    return torch.ops.aten.linalg_inv_ex(flat)[0].reshape(*behind, *front)


def linalg_tensorsolve(self, other, dims=None):
    source = self
    if dims is not None:
        moved = [d % self.dim() for d in dims]
        source = self.permute([d for d in range(self.dim()) if d not in moved] + moved)
    shape = source.shape[other.dim():]
    flat = source.reshape(_product(other.shape), _product(shape))
    return torch.ops.aten._linalg_solve_ex(flat, other.reshape(_product(other.shape)))[0].reshape(shape)


def linalg_vander(x, N=None):
    n = x.shape[-1] if N is None else N
    x = x.unsqueeze(-1) if x.dim() == 0 else x
    powers = x.unsqueeze(-1).expand(*x.shape, n - 1).cumprod(-1)
    return torch.cat([torch.ones(*x.shape, 1, dtype=powers.dtype), powers], -1)


def _chain(matrices):
    """The cheapest order of products, as chosen by `linalg.multi_dot`."""
    sizes = [matrix.shape[0] for matrix in matrices] + [matrices[-1].shape[1]]
    count = len(matrices)
    cost = [[0] * count for _ in range(count)]
    cut = [[0] * count for _ in range(count)]
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            best = None
            for k in range(i, j):
                price = cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1]
                if best is None or price < best:
                    best = price
                    cut[i][j] = k
            cost[i][j] = best
    return cut


def _multiplied(matrices, cut, i, j):
    if i == j:
        return matrices[i]
    k = cut[i][j]
    return torch.mm(_multiplied(matrices, cut, i, k), _multiplied(matrices, cut, k + 1, j))


def linalg_multi_dot(tensors):
    matrices = list(tensors)
    shape = []
    if matrices[0].dim() == 1:
        matrices[0] = matrices[0].unsqueeze(0)
    else:
        shape.append(matrices[0].shape[0])
    if matrices[-1].dim() == 1:
        matrices[-1] = matrices[-1].unsqueeze(-1)
    else:
        shape.append(matrices[-1].shape[1])
    if len(matrices) == 2:
        return torch.mm(matrices[0], matrices[1]).view(shape)
    if len(matrices) == 3:
        a, b, c = matrices
        left = a.shape[0] * a.shape[1] * b.shape[1] + a.shape[0] * b.shape[1] * c.shape[1]
        right = b.shape[0] * b.shape[1] * c.shape[1] + a.shape[0] * a.shape[1] * c.shape[1]
        if left > right:
            return torch.mm(a, torch.mm(b, c)).view(shape)
        return torch.mm(torch.mm(a, b), c).view(shape)
    return _multiplied(matrices, _chain(matrices), 0, len(matrices) - 1).view(shape)


def chain_matmul(matrices):
    if len(matrices) == 1:
        return matrices[0]
    return torch.ops.aten.linalg_multi_dot(matrices)


def cross(self, other, dim=None):
    if dim is None:
        dim = [d for d in range(self.dim()) if self.shape[d] == 3][0]
    return torch.ops.aten.linalg_cross(self, other, dim=dim)


def outer(self, vec2):
    return self.reshape(self.shape[0], 1) * vec2


def ger(self, vec2):
    return self.reshape(self.shape[0], 1) * vec2


def inner(self, other):
    if self.dim() == 0 or other.dim() == 0:
        return self * other
    return torch.ops.aten.tensordot(self, other, [-1], [-1])


def kron(self, other):
    rank = max(self.dim(), other.dim())
    a = [1] * (rank - self.dim()) + list(self.shape)
    b = [1] * (rank - other.dim()) + list(other.shape)
    left, right, result = [], [], []
    for i in range(rank):
        left += [a[i], 1]
        right += [1, b[i]]
        result.append(a[i] * b[i])
    product = torch.ops.aten._unsafe_view(self, left) * torch.ops.aten._unsafe_view(other, right)
    return torch.ops.aten._unsafe_view(product, result)


def tensordot_out(self, other, dims_self, dims_other, out=None):
    found = torch.ops.aten.tensordot(self, other, dims_self, dims_other)
    if torch.is_grad_enabled() and out.requires_grad and out.shape != found.shape:
        raise RuntimeError("tensordot(): the 'out' tensor was specified and requires gradients")
    return out.copy_(found)


def inner_out(self, other, out=None):
    if self.dim() == 0 or other.dim() == 0:
        return torch.mul(self, other, out=out)
    return tensordot_out(self, other, [-1], [-1], out)


def tensordot(self, other, dims_self, dims_other):
    a, b = self, other
    mine = [d % self.dim() for d in dims_self]
    theirs = [d % other.dim() for d in dims_other]
    for i in range(len(mine)):
        if b.shape[theirs[i]] == 1:
            a = a.sum(mine[i], True)
        elif a.shape[mine[i]] == 1:
            b = b.sum(theirs[i], True)
    shared = [a.shape[d] for d in mine]
    rest_a = [d for d in range(a.dim()) if d not in mine]
    rest_b = [d for d in range(b.dim()) if d not in theirs]
    sizes = [a.shape[d] for d in rest_a] + [b.shape[d] for d in rest_b]
    if _product(sizes) == 1:
        return _contracted(a.permute(rest_a + mine), b.permute(theirs + rest_b)).view(sizes)
    left = a.permute(rest_a + mine).reshape(_product([a.shape[d] for d in rest_a]), _product(shared))
    right = b.permute(theirs + rest_b).reshape(_product(shared), _product([b.shape[d] for d in rest_b]))
    return torch.mm(left, right).reshape(sizes)


def _contracted(a, b):
    """The single number left after contracting all dimensions."""
    if a.is_contiguous() and b.is_contiguous():
        return torch.dot(a.flatten(), b.flatten())
    return (a.squeeze() * b.squeeze()).sum()


def cdist(x1, x2, p=2.0, compute_mode=None):
    mode = 0 if compute_mode is None else compute_mode
    rows, columns = x1.shape[-2], x2.shape[-2]
    full = x1.numel() > 0 and x2.numel() > 0
    if full and p == 2 and (mode == 1 or (mode == 0 and (rows > 25 or columns > 25))):
        return _euclidean(x1, x2, rows, columns)
    return torch.ops.aten._cdist_forward(x1, x2, p, compute_mode)


def pdist(self, p=2.0):
    return torch.ops.aten._pdist_forward(self.contiguous(), p)


def _euclidean(x1, x2, rows, columns):
    if x1.dim() == 2 and x2.dim() == 2:
        return torch.ops.aten._euclidean_dist(x1, x2).view(rows, columns)
    batch = list(torch.broadcast_shapes(x1.shape[:-2], x2.shape[:-2]))
    size = x1.shape[-1]
    if _product(batch) == 1 and x1.dim() == len(batch) + 2 and x2.dim() == len(batch) + 2:
        return torch.ops.aten._euclidean_dist(x1, x2).view(batch + [rows, columns])
    a = x1.expand(batch + [rows, size]).contiguous().view(_product(batch), rows, size)
    b = x2.expand(batch + [columns, size]).contiguous().view(_product(batch), columns, size)
    return torch.ops.aten._euclidean_dist(a, b).view(batch + [rows, columns])
