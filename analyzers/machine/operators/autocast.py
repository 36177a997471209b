"""Autocast on the CPU: which operators compute in the lower precision, and which in float32.

with torch.autocast("cpu", dtype=torch.bfloat16):
    y = x @ w         # both are converted first, by a ToCopyBackward0 each; the copy of a leaf is cached
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from analyzers.domain import truth
from analyzers.domain.copies import replace
from analyzers.domain.join import reach_of
from analyzers.domain.objects import ListObj, Tensor
from analyzers.domain.state import PERHAPS_CASTING
from analyzers.domain.values import Builtin, Ref, Tup, Value
from analyzers.machine.autograd.graph import refreshed
from analyzers.machine.autograd.tensors import tensor_at
from analyzers.machine.core.machine import Machine
from analyzers.machine.operators.arguments import tensors_in, unknown_operand
from analyzers.machine.operators.rows import run_row
from analyzers.ops import table
from analyzers.ops.table import Row

_LOWER = frozenset(
    word
    for line in (
        "addbmm addmm baddbmm bmm mm matmul linear conv1d conv2d conv3d conv_transpose1d conv_transpose2d",
        "conv_transpose3d conv_tbc linalg_vecdot linalg_multi_dot scaled_dot_product_attention prelu",
        "mkldnn_rnn_layer",
    )
    for word in line.split()
)


_FULL = frozenset(
    word
    for line in (
        "avg_pool3d adaptive_avg_pool3d adaptive_max_pool3d binary_cross_entropy grid_sampler_2d",
        "grid_sampler_3d trace prod quantile nanquantile cdist mse_loss l1_loss nll_loss nll_loss_nd nll_loss2d",
        "cross_entropy_loss",
        "huber_loss smooth_l1_loss kl_div ctc_loss cosine_embedding_loss hinge_embedding_loss",
        "margin_ranking_loss multi_margin_loss multilabel_margin_loss poisson_nll_loss soft_margin_loss",
        "triplet_margin_loss binary_cross_entropy_with_logits cholesky cholesky_inverse cholesky_solve",
        "fft_irfft fft_irfft2 fft_irfftn fft_hfft linalg_cholesky linalg_cholesky_ex linalg_cond linalg_eigh",
        "linalg_eigvalsh linalg_householder_product linalg_inv linalg_inv_ex linalg_lstsq linalg_qr",
        "linalg_solve linalg_svd linalg_svdvals linalg_tensorinv linalg_tensorsolve lu_solve qr svd",
        "triangular_solve max_unpool2d max_unpool3d fractional_max_pool2d fractional_max_pool3d pinverse",
    )
    for word in line.split()
)


_WIDEST = frozenset({"cat", "stack", "index_copy"})
"""Operators that promote all operands to the widest type."""


_CONVERTED = frozenset({"float32", "bfloat16", "float16"})


def converts(m: Machine, row: Row) -> bool:
    """Whether autocast changes the dtype that the operator computes in."""
    return m.st.casting not in {None, PERHAPS_CASTING} and not row.out and row.base in _LOWER | _FULL | _WIDEST


def run_converted(m: Machine, row: Row, bound: Mapping[str, Value], run: Callable[[dict[str, Value]], Value]) -> Value:
    """Run an operator on converted operands; the operators it is composed of are not converted again."""
    lower = m.st.casting
    widest = _is_wide(m, bound) if row.base in _WIDEST else False
    wide = row.base in _FULL or widest
    wanted = "float32" if wide else lower
    assert wanted is not None
    m.st.casting = None
    try:
        if widest is None:
            return _in_unknown_type(m, run(dict(bound)))
        return run({name: _converted(m, value, wanted, cache=wanted == lower) for name, value in bound.items()})
    finally:
        m.st.casting = lower


def _is_wide(m: Machine, bound: Mapping[str, Value]) -> truth.Truth:
    """Whether one of the operands is in full precision."""
    dtypes = {tensor_at(m, i).dtype for value in bound.values() for i in tensors_in(m, value)}
    if "float32" in dtypes:
        return True
    unseen = not m.config.presumes and any(unknown_operand(m, value) for value in bound.values())
    return None if unseen or None in dtypes else False


def _in_unknown_type(m: Machine, result: Value) -> Value:
    """A result of operands that may have been converted."""
    for ident in reach_of(result):
        m.st.update(ident, Tensor, lambda t: replace(t, dtype=None))
    return result


def _converted(m: Machine, value: Value, wanted: str, *, cache: bool) -> Value:
    if isinstance(value, Tup):
        return Tup(tuple(_converted(m, item, wanted, cache=cache) for item in value.items), value.kind, value.names)
    found = m.obj(value)
    if isinstance(found, ListObj) and found.rest is None:
        return Tup(tuple(_converted(m, item, wanted, cache=cache) for item in found.items))
    tensor = m.tensor(value)
    if tensor is None or not isinstance(value, Ref) or tensor.dtype not in _CONVERTED - {wanted}:
        return value
    kept = m.st.casts.get(value.id)
    if cache and kept is not None:
        return Ref(kept)
    row = table.row("_to_copy")
    assert row is not None
    made = run_row(m, row, {"self": value, "dtype": Builtin("torch." + wanted)}, what="autocast")
    now = refreshed(m, value.id)
    cache = cache and m.st.grad is True
    if cache and isinstance(made, Ref) and now.requires_grad and now.edge is None and now.base is None:
        m.st.casts = m.st.casts.set(value.id, made.id)
    return made
