import torch


def norm(self, p="fro", dim=None, keepdim=False, dtype=None):
    return torch.norm(self, p, dim, keepdim, dtype=dtype)


def lu(self, pivot=True, get_infos=False):
    factors, pivots, infos = torch.ops.aten._lu_with_info(self, pivot, not get_infos)
    return (factors, pivots, infos) if get_infos else (factors, pivots)


def unique(self, sorted=True, return_inverse=False, return_counts=False, dim=None):
    return torch.unique(self, sorted, return_inverse, return_counts, dim)


def unique_consecutive(self, return_inverse=False, return_counts=False, dim=None):
    return torch.unique_consecutive(self, return_inverse, return_counts, dim)


def stft(self, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode="reflect",
         normalized=False, onesided=None, return_complex=None, align_to_window=None):
    return torch.stft(self, n_fft, hop_length, win_length, window, center, pad_mode, normalized, onesided,
                      return_complex, align_to_window)


def istft(self, n_fft, hop_length=None, win_length=None, window=None, center=True, normalized=False, onesided=None,
          length=None, return_complex=False):
    return torch.istft(self, n_fft, hop_length, win_length, window, center, normalized, onesided, length,
                       return_complex)


def unflatten(self, dim, sizes):
    return torch.ops.aten.unflatten(self, dim, sizes)


def nonzero(self, *, as_tuple=False):
    return torch.nonzero(self, as_tuple=as_tuple)
