import torch


def _resized(x, dims, sizes):
    """Cut or zero-padded to the requested sizes."""
    shape = x.shape
    must_pad = False
    pad = [0] * (2 * x.dim())
    for i in range(len(dims)):
        if sizes[i] == -1:
            continue
        have = shape[dims[i]]
        if have < sizes[i]:
            must_pad = True
            pad[len(pad) - 2 * (dims[i] % x.dim()) - 1] = sizes[i] - have
        elif have > sizes[i]:
            x = torch.ops.aten.slice(x, dims[i], 0, sizes[i])
    return torch.ops.aten.constant_pad_nd(x, pad) if must_pad else x


def _floating(x):
    return x if x.is_complex() or x.is_floating_point() else x.to(torch.float32)


def _complex(x):
    if x.is_complex():
        return x
    if x.dtype == torch.float64:
        return x.to(torch.complex128)
    return x.to(torch.complex64)


def _dims_of(x, dim, s):
    if dim is None:
        return list(range(x.dim())) if s is None else list(range(x.dim() - len(s), x.dim()))
    dims = [dim] if isinstance(dim, int) else list(dim)
    return [d % x.dim() for d in dims]


def _sizes_of(x, s, dims):
    if s is None:
        return [x.shape[d] for d in dims]
    s = [s] if isinstance(s, int) else list(s)
    return [x.shape[dims[i]] if s[i] == -1 else s[i] for i in range(len(s))]


def _c2c(x, dims, s, forward):
    x = _complex(x)
    sizes = _sizes_of(x, s, dims)
    return torch.ops.aten._fft_c2c(_resized(x, dims, sizes), dims, 0, forward)


def fft_fft(self, n=None, dim=-1, norm=None):
    if self.is_complex():
        x = self if n is None else _resized(self, [dim], [n])
        return torch.ops.aten._fft_c2c(x, [dim], 0, True)
    x = _floating(self)
    x = x if n is None else _resized(x, [dim], [n])
    return torch.ops.aten._fft_r2c(x, [dim], 0, False)


def fft_ifft(self, n=None, dim=-1, norm=None):
    if self.is_complex():
        x = self if n is None else _resized(self, [dim], [n])
        return torch.ops.aten._fft_c2c(x, [dim], 2, False)
    x = _floating(self)
    x = x if n is None else _resized(x, [dim], [n])
    return torch.ops.aten._conj(torch.ops.aten._fft_r2c(x, [dim], 2, False))


def fft_ifft_out(self, n=None, dim=-1, norm=None, out=None):
    if self.is_complex():
        x = self if n is None else _resized(self, [dim], [n])
        return torch.ops.aten._fft_c2c(x, [dim], 2, False, out=out)
    x = _floating(self)
    x = x if n is None else _resized(x, [dim], [n])
    return torch.ops.aten.conj_physical(torch.ops.aten._fft_r2c(x, [dim], 2, False), out=out)


def fft_rfft(self, n=None, dim=-1, norm=None):
    x = _floating(self)
    x = x if n is None else _resized(x, [dim], [n])
    return torch.ops.aten._fft_r2c(x, [dim], 0, True)


def fft_irfft(self, n=None, dim=-1, norm=None):
    x = _complex(self)
    size = (x.shape[dim] - 1) * 2 if n is None else n
    x = x if n is None else _resized(x, [dim], [size // 2 + 1])
    return torch.ops.aten._fft_c2r(x, [dim], 2, size)


def fft_hfft(self, n=None, dim=-1, norm=None):
    x = _complex(self)
    size = (x.shape[dim] - 1) * 2 if n is None else n
    x = x if n is None else _resized(x, [dim], [size // 2 + 1])
    return torch.ops.aten._fft_c2r(x.conj(), [dim], 0, size)


def fft_ihfft(self, n=None, dim=-1, norm=None):
    x = _floating(self)
    x = x if n is None else _resized(x, [dim], [n])
    return torch.ops.aten._conj(torch.ops.aten._fft_r2c(x, [dim], 2, True))


def fft_ihfft_out(self, n=None, dim=-1, norm=None, out=None):
    x = _floating(self)
    x = x if n is None else _resized(x, [dim], [n])
    return torch.ops.aten.conj_physical(torch.ops.aten._fft_r2c(x, [dim], 2, True), out=out)


def fft_fftn(self, s=None, dim=None, norm=None):
    return _c2c(self, _dims_of(self, dim, s), s, True)


def fft_ifftn(self, s=None, dim=None, norm=None):
    return _c2c(self, _dims_of(self, dim, s), s, False)


def fft_fft2(self, s=None, dim=(-2, -1), norm=None):
    return _c2c(self, _dims_of(self, dim, s), s, True)


def fft_ifft2(self, s=None, dim=(-2, -1), norm=None):
    return _c2c(self, _dims_of(self, dim, s), s, False)


def _rfftn(x, s, dim):
    dims = _dims_of(x, dim, s)
    x = _floating(x)
    return torch.ops.aten._fft_r2c(_resized(x, dims, _sizes_of(x, s, dims)), dims, 0, True)


def fft_rfftn(self, s=None, dim=None, norm=None):
    return _rfftn(self, s, dim)


def fft_rfft2(self, s=None, dim=(-2, -1), norm=None):
    return _rfftn(self, s, dim)


def _last_size(x, s, dims):
    if s is None or isinstance(s, int) and s == -1 or not isinstance(s, int) and s[-1] == -1:
        return 2 * (x.shape[dims[-1]] - 1)
    return s if isinstance(s, int) else s[-1]


def _irfftn(x, s, dim):
    dims = _dims_of(x, dim, s)
    x = _complex(x)
    last = _last_size(x, s, dims)
    sizes = _sizes_of(x, s, dims)
    sizes[-1] = last // 2 + 1
    return torch.ops.aten._fft_c2r(_resized(x, dims, sizes), dims, 2, last)


def fft_irfftn(self, s=None, dim=None, norm=None):
    return _irfftn(self, s, dim)


def fft_irfft2(self, s=None, dim=(-2, -1), norm=None):
    return _irfftn(self, s, dim)


def _hfftn(x, s, dim):
    dims = _dims_of(x, dim, s)
    x = _complex(x)
    last = _last_size(x, s, dims)
    sizes = _sizes_of(x, s, dims)
    sizes[-1] = last // 2 + 1
    x = _resized(x, dims, sizes)
    if len(dims) > 1:
        x = torch.ops.aten._fft_c2c(x, dims[:-1], 0, True)
    return torch.ops.aten._fft_c2r(x.conj(), [dims[-1]], 0, last)


def fft_hfftn(self, s=None, dim=None, norm=None):
    return _hfftn(self, s, dim)


def fft_hfft2(self, s=None, dim=(-2, -1), norm=None):
    return _hfftn(self, s, dim)


def _ihfftn(x, s, dim):
    dims = _dims_of(x, dim, s)
    x = _floating(x)
    x = _resized(x, dims, _sizes_of(x, s, dims))
    half = torch.ops.aten._fft_r2c(x, [dims[-1]], 2, True)
    if len(dims) == 1:
        return torch.ops.aten._conj(half)
    return torch.ops.aten._fft_c2c(torch.ops.aten._conj_physical(half), dims[:-1], 2, False)


def _ihfftn_out(x, s, dim, out):
    dims = _dims_of(x, dim, s)
    x = _floating(x)
    x = _resized(x, dims, _sizes_of(x, s, dims))
    half = torch.ops.aten._fft_r2c(x, [dims[-1]], 2, True)
    if len(dims) == 1:
        # Torch computes the result but does not write it.
        return out
    return torch.ops.aten._fft_c2c(torch.ops.aten._conj_physical(half), dims[:-1], 2, False, out=out)


def fft_ihfftn_out(self, s=None, dim=None, norm=None, out=None):
    return _ihfftn_out(self, s, dim, out)


def fft_ihfft2_out(self, s=None, dim=(-2, -1), norm=None, out=None):
    return _ihfftn_out(self, s, dim, out)


def fft_ihfftn(self, s=None, dim=None, norm=None):
    return _ihfftn(self, s, dim)


def fft_ihfft2(self, s=None, dim=(-2, -1), norm=None):
    return _ihfftn(self, s, dim)


def _shifted(x, dim, sign):
    dims = list(range(x.dim())) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    if sign > 0:
        return x.roll([x.shape[d] // 2 for d in dims], dims)
    return x.roll([(x.shape[d] + 1) // 2 for d in dims], dims)


def fft_fftshift(self, dim=None):
    return _shifted(self, dim, 1)


def fft_ifftshift(self, dim=None):
    return _shifted(self, dim, -1)


def stft(self, n_fft, hop_length=None, win_length=None, window=None, normalized=False, onesided=None,
         return_complex=None, align_to_window=None):
    hop = n_fft // 4 if hop_length is None else hop_length
    wide = n_fft if win_length is None else win_length
    if return_complex is None:
        return_complex = self.is_complex() or window is not None and window.is_complex()
    x = self.unsqueeze(0) if self.dim() == 1 else self
    if wide < n_fft:
        window = _centered(torch.ones(wide, dtype=self.dtype) if window is None else window, n_fft, wide)
    frames = 1 + (x.shape[1] - n_fft) // hop
    x = x.as_strided((x.shape[0], frames, n_fft), (x.stride(0), hop * x.stride(1), x.stride(1)))
    if window is not None:
        x = x.mul(window)
    if x.is_complex():
        found = torch.ops.aten._fft_c2c(x, [2], 0, True)
    else:
        found = torch.ops.aten._fft_r2c(x, [2], 0, True if onesided is None else onesided)
    found.transpose_(1, 2)
    if self.dim() == 1:
        found.squeeze_(0)
    return found if return_complex else torch.view_as_real(found)


def _centered(window, n_fft, wide):
    """A window centered in zeros."""
    padded = torch.zeros(n_fft, dtype=window.dtype)
    padded.narrow(0, (n_fft - wide) // 2, wide).copy_(window)
    return padded


def istft(self, n_fft, hop_length=None, win_length=None, window=None, center=True, normalized=False, onesided=None,
          length=None, return_complex=False):
    hop = n_fft // 4 if hop_length is None else hop_length
    wide = n_fft if win_length is None else win_length
    x = torch.view_as_real(self.resolve_conj())
    rank, frames, size = x.dim(), x.shape[-2], x.shape[-3]
    whole = n_fft + hop * (frames - 1)
    onesided = size != n_fft if onesided is None else onesided
    if window is None:
        window = torch.ones(wide, dtype=torch.float64 if x.dtype == torch.float64 else torch.float32)
    if wide != n_fft:
        left = (n_fft - wide) // 2
        window = torch.ops.aten.constant_pad_nd(window, [left, n_fft - wide - left])
    if rank == 3:
        x = x.unsqueeze(0)
    x = torch.view_as_complex(x.transpose(1, 2))
    if return_complex:
        x = torch.ops.aten._fft_c2c(x, [2], 2, False)
    else:
        x = x if onesided else torch.ops.aten.slice(x, -1, 0, n_fft // 2 + 1)
        x = torch.ops.aten._fft_c2r(x, [2], 2, n_fft)
    y = x * window.view((1, 1, n_fft))
    y = torch.ops.aten.unfold_backward(y, [y.shape[0], whole], 1, n_fft, hop)
    envelope = torch.ops.aten.unfold_backward(window.pow(2).expand(1, frames, n_fft), [1, whole], 1, n_fft, hop)
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else whole - start
    y = torch.ops.aten.slice(y, 1, start, end) / torch.ops.aten.slice(envelope, 1, start, end)
    if rank == 3:
        y = y.squeeze(0)
    return torch.ops.aten.constant_pad_nd(y, [0, end - whole]) if end > whole else y
