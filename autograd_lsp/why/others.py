"""What exceptions are that do not come from autograd, in a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable

from autograd_lsp.why.log import Raised

_KINDS = (
    (
        r"Expected all tensors to be on the same device|is not on the expected device",
        "the operands of one operator are on different devices; `.to(device)` moves a tensor or a model",
    ),
    (
        r"shapes cannot be multiplied|must match the size of tensor|size mismatch|is invalid for input of size"
        r"|stack expects each tensor to be equal size|Given groups=|Sizes of tensors must match",
        "the sizes of tensors do not fit; print their `.shape` in the line before",
    ),
    (
        r"expected scalar type|must have the same dtype|expected m1 and m2 to have the same dtype"
        r"|should be the same|Expected tensor for argument .* to have one of the following scalar types",
        "the dtypes of tensors do not fit; `.to(dtype)` converts one",
    ),
    (r"out of memory", "the memory of the device is full"),
    (
        r"CUDA error|device-side assert",
        "the GPU reports an error, perhaps of an earlier line; with `CUDA_LAUNCH_BLOCKING=1` the line is the right one",
    ),
    (r"index out of range|out of bounds for dimension|is out of bounds", "an index is outside of what it goes into"),
    (r"loading state_dict", "the names or sizes in a checkpoint are not those of the model"),
)


_BARE = re.compile(r"^\W*((?:\w+\.)*\w*(?:Error|Exception)): (.+)$", re.MULTILINE)


def last_of(told: Iterable[Raised], text: str) -> Raised | None:
    """The last exception, or a line that reads as one, without a traceback."""
    lines = _BARE.findall(text)
    return next(iter([*told][::-1]), Raised(*lines[-1]) if lines else None)


def what_it_is(raised: Raised) -> str:
    """Of an exception that is told of and is not autograd's."""
    told = f"{raised.message} {raised.below}"
    return next((words for pattern, words in _KINDS if re.search(pattern, told)), "it does not come from autograd")
