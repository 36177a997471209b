"""Sliding windows: convolution, pooling, padding, resampling, and the shuffles between channels and space.

conv2d([8, 3, 32, 32], weight [16, 3, 3, 3], stride 2, padding 1)  ->  [8, 16, 16, 16]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from analyzers.ops.infer_core import (
    Call,
    Result,
    Shape,
    ShapeError,
    TensorType,
    numel,
    rule,
    same_dtype,
    show,
    unknown_sizes,
)

Sizes: TypeAlias = "tuple[int | None, ...]"


def spread(values: Sequence[int | None] | None, rank: int, otherwise: Sequence[int | None] | None = None) -> Sizes:
    """One number standing for every spatial dimension; an empty list stands for `otherwise`."""
    if values is None:
        return (None,) * rank
    if not values and otherwise is not None:
        return tuple(otherwise)
    if len(values) == 1:
        return tuple(values) * rank
    return tuple(values) if len(values) == rank else (None,) * rank


def window_size(
    window: tuple[int | None, int | None, int | None, int | None, int | None], ceil: bool | None
) -> int | None:
    """How many places a window (size, kernel, stride, padding, dilation) takes."""
    size, kernel, stride, pad, dilation = window
    if size is None or kernel is None or not stride or pad is None or dilation is None or ceil is None:
        return None
    room = size + 2 * pad - dilation * (kernel - 1) - 1
    if room < 0 and not ceil:
        return None
    count = (-(-room // stride) if ceil else room // stride) + 1
    if ceil and (count - 1) * stride >= size + pad:
        count -= 1
    return count


@rule(
    "conv1d conv2d conv3d convolution _convolution convolution_overrideable mkldnn_convolution thnn_conv2d slow_conv3d "
    "conv_depthwise3d _slow_conv2d_forward slow_conv_dilated2d"
)
def _convolution(call: Call) -> Result:
    return _window_product(call, call.flag("transposed"))


@rule("conv_transpose1d conv_transpose2d conv_transpose3d slow_conv_transpose2d slow_conv_transpose3d")
def _conv_transpose(call: Call) -> Result:
    return _window_product(call, True)


def _window_product(call: Call, transposed: bool | None) -> Result:
    operand, weight = call.tensor("input", "self"), call.tensor("weight")
    dtype = same_dtype(operand, weight)
    kernel = weight.shape
    rank = None if kernel is None else len(kernel) - 2
    if rank is None and operand.shape is None:
        return TensorType(None, dtype)
    if kernel is None or rank is None:
        return TensorType(unknown_sizes(operand.shape), dtype)
    return TensorType(_convolved(call, operand.shape, kernel, rank, transposed), dtype)


def _convolved(call: Call, shape: Shape, kernel: Sizes, rank: int, transposed: bool | None) -> Shape:
    groups = call.number("groups", 1)
    if shape is None:
        return None
    if len(shape) not in (rank + 1, rank + 2):
        raise ShapeError(f"Expected {rank + 1}D (unbatched) or {rank + 2}D (batched) input, but got {show(shape)}")
    batch, channels, space = shape[: -rank - 1], shape[-rank - 1], shape[len(shape) - rank :]
    if transposed is None:
        return (*batch, None, *(None,) * rank)
    takes = kernel[0] if transposed else numel((kernel[1], groups))
    if takes is not None and channels is not None and takes != channels:
        raise ShapeError(
            f"Given groups={groups}, weight of size {show(kernel)}, expected input{show(shape)} to have {takes} "
            f"channels, but got {channels} channels instead"
        )
    gives = numel((kernel[1], groups)) if transposed else kernel[0]
    stride = spread(call.ints("stride", (1,)), rank)
    dilation = spread(call.ints("dilation", (1,)), rank)
    padding = call.args.get("padding", 0)
    if padding == "same":
        return (*batch, gives, *space)
    pads = (0,) * rank if padding == "valid" else spread(call.ints("padding", (0,)), rank)
    if not transposed:
        windows = zip(space, kernel[2:], stride, pads, dilation, strict=True)
        return (*batch, gives, *(window_size(window, False) for window in windows))
    extra = spread(call.ints("output_padding", (0,)), rank)
    sizes = [
        None if None in parts else (parts[0] - 1) * parts[2] - 2 * parts[3] + parts[4] * (parts[1] - 1) + parts[5] + 1
        for parts in zip(space, kernel[2:], stride, pads, dilation, extra, strict=True)
    ]
    return (*batch, gives, *sizes)


def _pooled(call: Call, rank: int) -> tuple[TensorType, Shape]:
    operand = call.tensor("self", "input")
    shape = operand.shape
    if shape is None:
        return operand, None
    if len(shape) not in (rank + 1, rank + 2):
        raise ShapeError(f"Expected {rank + 1}D or {rank + 2}D input, but got {show(shape)}")
    kernel = spread(call.ints("kernel_size"), rank)
    stride = spread(call.ints("stride", ()), rank, kernel)
    if call.ints("stride", ()) is None:
        stride = (None,) * rank
    pads, dilation = spread(call.ints("padding", (0,)), rank), spread(call.ints("dilation", (1,)), rank)
    windows = zip(shape[len(shape) - rank :], kernel, stride, pads, dilation, strict=True)
    ceil = call.flag("ceil_mode")
    return operand, (*shape[: len(shape) - rank], *(window_size(window, ceil) for window in windows))


def _register_pools() -> None:
    for rank in (1, 2, 3):

        def single(call: Call, rank: int = rank) -> Result:
            operand, shape = _pooled(call, rank)
            return TensorType(shape, operand.dtype)

        def indexed(call: Call, rank: int = rank) -> Result:
            operand, shape = _pooled(call, rank)
            return TensorType(shape, operand.dtype), TensorType(shape, "int64")

        def adaptive(call: Call, rank: int = rank) -> Result:
            return _adaptive(call, rank)

        def adaptive_indexed(call: Call, rank: int = rank) -> Result:
            result = _adaptive(call, rank)
            return result, TensorType(result.shape, "int64")

        rule(f"max_pool{rank}d avg_pool{rank}d mkldnn_max_pool{rank}d")(single)
        rule(f"max_pool{rank}d_with_indices")(indexed)
        rule(f"adaptive_avg_pool{rank}d _adaptive_avg_pool{rank}d")(adaptive)
        rule(f"adaptive_max_pool{rank}d fractional_max_pool{rank}d")(adaptive_indexed)
        rule(f"max_unpool{rank}d")(adaptive)


def _adaptive(call: Call, rank: int) -> TensorType:
    operand = call.tensor("self")
    shape = operand.shape
    if shape is None or len(shape) not in (rank + 1, rank + 2):
        return TensorType(None, operand.dtype)
    return TensorType((*shape[: len(shape) - rank], *spread(call.ints("output_size"), rank)), operand.dtype)


_register_pools()


@rule(
    "constant_pad_nd pad reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d replication_pad2d "
    "replication_pad3d _pad_circular _pad_enum"
)
def _pad(call: Call) -> Result:
    operand = call.tensor("self")
    shape, pad = operand.shape, call.ints("pad" if "pad" in call.args else "padding")
    if shape is None or pad is None or len(pad) > 2 * len(shape):
        return TensorType(unknown_sizes(shape), operand.dtype)
    sizes = list(shape)
    for i in range(len(pad) // 2):
        parts = (sizes[-1 - i], pad[2 * i], pad[2 * i + 1])
        known = [part for part in parts if part is not None]
        sizes[-1 - i] = sum(known) if len(known) == 3 else None
    return TensorType(tuple(sizes), operand.dtype)


@rule(
    "upsample_nearest1d upsample_nearest2d upsample_nearest3d _upsample_nearest_exact1d _upsample_nearest_exact2d "
    "_upsample_nearest_exact3d upsample_linear1d upsample_bilinear2d upsample_bicubic2d upsample_trilinear3d "
    "_upsample_bilinear2d_aa _upsample_bicubic2d_aa _upsample_lanczos2d_aa"
)
def _upsample(call: Call) -> Result:
    operand, sizes = call.tensor("input", "self"), call.ints("output_size")
    shape = operand.shape
    if shape is None or len(shape) < 3:
        return TensorType(None, operand.dtype)
    if sizes is None or len(sizes) != len(shape) - 2:
        sizes = (None,) * (len(shape) - 2)
    return TensorType((*shape[:2], *sizes), operand.dtype)


@rule("grid_sampler grid_sampler_2d grid_sampler_3d cudnn_grid_sampler")
def _grid_sampler(call: Call) -> Result:
    operand, grid = call.tensor("input"), call.tensor("grid")
    if operand.shape is None or grid.shape is None:
        return TensorType(unknown_sizes(operand.shape), operand.dtype)
    return TensorType((*operand.shape[:2], *grid.shape[1:-1]), operand.dtype)


@rule("affine_grid_generator")
def _affine_grid(call: Call) -> Result:
    theta, size = call.tensor("theta"), call.ints("size")
    shape = None if size is None else (size[0], *size[2:], len(size) - 2)
    return TensorType(shape, theta.dtype)


@rule("pixel_shuffle")
def _pixel_shuffle(call: Call) -> Result:
    operand, r = call.tensor("self"), call.number("upscale_factor")
    shape = operand.shape
    if not shape or len(shape) < 3 or not r:
        return TensorType(unknown_sizes(shape), operand.dtype)
    channels = None if shape[-3] is None else shape[-3] // (r * r)
    return TensorType((*shape[:-3], channels, numel((shape[-2], r)), numel((shape[-1], r))), operand.dtype)


@rule("pixel_unshuffle")
def _pixel_unshuffle(call: Call) -> Result:
    operand, r = call.tensor("self"), call.number("downscale_factor")
    shape = operand.shape
    if shape is not None and len(shape) > 2 and r and numel(shape) == 0:
        return TensorType(shape, operand.dtype)  # an empty one comes back as it is
    if not shape or len(shape) < 3 or not r or not numel(shape):
        return TensorType(unknown_sizes(shape), operand.dtype)
    height, width = (None if size is None else size // r for size in shape[-2:])
    return TensorType((*shape[:-3], numel((shape[-3], r * r)), height, width), operand.dtype)


@rule("im2col")
def _im2col(call: Call) -> Result:
    operand = call.tensor("self")
    shape, kernel = operand.shape, spread(call.ints("kernel_size"), 2)
    if shape is None or len(shape) not in (3, 4):
        return TensorType(None, operand.dtype)
    settings = [spread(call.ints(name), 2) for name in ("stride", "padding", "dilation")]
    counts = tuple(
        window_size(window, False)
        for window in zip(shape[-2:], kernel, settings[0], settings[1], settings[2], strict=True)
    )
    return TensorType((*shape[:-3], numel((shape[-3], *kernel)), numel(counts)), operand.dtype)


@rule("col2im")
def _col2im(call: Call) -> Result:
    operand = call.tensor("self")
    shape, kernel = operand.shape, spread(call.ints("kernel_size"), 2)
    output = spread(call.ints("output_size"), 2)
    area = numel(kernel)
    if shape is None or len(shape) not in (2, 3):
        return TensorType(None, operand.dtype)
    channels = None if shape[-2] is None or not area else shape[-2] // area
    return TensorType((*shape[:-2], channels, *output), operand.dtype)
