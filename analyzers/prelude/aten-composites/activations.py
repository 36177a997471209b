import torch


def selu(self):
    return torch.ops.aten.elu(self, 1.6732632423543772, 1.0507009873554805)


def selu_(self):
    return torch.ops.aten.elu_(self, 1.6732632423543772, 1.0507009873554805)


def relu6(self):
    return torch.ops.aten.hardtanh(self, 0, 6)


def relu6_(self):
    return torch.ops.aten.hardtanh_(self, 0, 6)


def rrelu(self, lower=0.125, upper=0.3333333333333333, training=False, generator=None):
    return torch.ops.aten.rrelu_with_noise(self, torch.empty_like(self), lower, upper, training)


def rrelu_(self, lower=0.125, upper=0.3333333333333333, training=False, generator=None):
    return torch.ops.aten.rrelu_with_noise_(self, torch.empty_like(self), lower, upper, training)


def prelu(self, weight):
    if weight.dim() != self.dim():
        sizes = [1] * self.dim()
        if self.dim() > 1:
            sizes[1] = weight.numel()
        elif self.dim() == 1:
            sizes[0] = weight.numel()
        weight = weight.reshape(sizes)
    return torch.ops.aten._prelu_kernel(self, weight)


def special_ndtr(self):
    return (torch.erf(self * 0.7071067811865476) + 1) * 0.5


def square_(self):
    return self.pow_(2)


def positive(self):
    return self


def conj(self):
    return torch.ops.aten._conj(self) if self.is_complex() else self


def conj_physical(self):
    return torch.ops.aten._conj_physical(self) if self.is_complex() else self


def real(self):
    if not self.is_complex():
        return self
    return torch.view_as_real(self).select(-1, 0)


def imag(self):
    return torch.view_as_real(self).select(-1, 1)


def resolve_conj(self):
    return self


def resolve_neg(self):
    return self


def float_power(self, exponent):
    wide = torch.float64
    if any(x.is_complex() if isinstance(x, torch.Tensor) else isinstance(x, complex) for x in (self, exponent)):
        wide = torch.complex128
    if isinstance(self, torch.Tensor):
        self = self.to(wide)
    if isinstance(exponent, torch.Tensor):
        exponent = exponent.to(wide)
    return torch.pow(self, exponent)


def float_power_(self, exponent):
    plural = exponent.is_complex() if isinstance(exponent, torch.Tensor) else isinstance(exponent, complex)
    wide = torch.complex128 if plural or self.is_complex() else torch.float64
    if self.dtype != wide:
        raise RuntimeError("the base given to float_power_ has dtype")
    return self.pow_(exponent.to(self.dtype) if isinstance(exponent, torch.Tensor) else exponent)


def special_polygamma(n, self):
    return torch.polygamma(n, self)


def special_xlogy(self, other):
    return torch.xlogy(self, other)


def special_softmax(self, dim, dtype=None):
    return torch.softmax(self, dim, dtype=dtype)


def special_log_softmax(self, dim, dtype=None):
    return torch.log_softmax(self, dim, dtype=dtype)


def divide(self, other, rounding_mode=None):
    return torch.div(self, other, rounding_mode=rounding_mode)


def divide_(self, other, rounding_mode=None):
    return self.div_(other, rounding_mode=rounding_mode)


def isfinite(self):
    return (self == self) * (self.abs() != float("inf"))


def isreal(self):
    return torch.imag(self) == 0 if self.is_complex() else torch.ones_like(self, dtype=torch.bool)


def dropout_(self, p, train):
    if not train or p == 0:
        return self
    return self.mul_(torch.empty_like(self))


def feature_dropout_(self, p, train):
    if not train or p == 0:
        return self
    return self.mul_(torch.empty(self.shape[:2] + (1,) * (self.dim() - 2)))


def _alpha(input, p, noise, in_place):
    """Noise that preserves the mean, and a shift."""
    shift = noise + 1.0
    product = input.mul_(noise) if in_place else input * noise
    return product.add_(shift)


def _channels(input):
    return torch.empty(list(input.shape[:2]) + [1] * (input.dim() - 2), dtype=input.dtype)


def alpha_dropout(input, p, train):
    if p == 1:
        return input * torch.zeros((), dtype=input.dtype)
    return _alpha(input, p, torch.empty_like(input), False)


def feature_alpha_dropout(input, p, train):
    if p == 1:
        return input * torch.zeros((), dtype=input.dtype)
    return _alpha(input, p, _channels(input), False)


def alpha_dropout_(self, p, train):
    if p == 0 or not train or self.numel() == 0:
        return self
    if p == 1:
        return self.mul_(torch.zeros((), dtype=self.dtype))
    return _alpha(self, p, torch.empty_like(self), True)


def feature_alpha_dropout_(self, p, train):
    if p == 0 or not train or self.numel() == 0:
        return self
    if p == 1:
        return self.mul_(torch.zeros((), dtype=self.dtype))
    return _alpha(self, p, _channels(self), True)


def chalf(self, memory_format=None):
    return self.to(torch.complex32, memory_format=memory_format)
