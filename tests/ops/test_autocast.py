"""What autocast may convert, as torch's dispatcher has it."""

from __future__ import annotations

import torch

from analyzers.ops.autocast import CONVERTIBLE

KEYS = [f"Autocast{device}" for device in ("CPU", "CUDA", "HPU", "IPU", "MPS", "MTIA", "PrivateUse1", "XLA", "XPU")]


def _overloads() -> dict[str, list[str]]:
    """The qualified names of each operator's overloads."""
    found: dict[str, list[str]] = {}
    for schema in torch._C._jit_get_all_schemas():
        overload = f".{schema.overload_name}" if schema.overload_name else ""
        if schema.name.startswith("aten::"):
            found.setdefault(schema.name.removeprefix("aten::"), []).append(schema.name + overload)
    return found


def _is_registered(name: str, key: str) -> bool:
    try:
        return torch._C._dispatch_has_kernel_for_dispatch_key(name, key)
    except RuntimeError:  # an operator of TorchScript, which the dispatcher does not know
        return False


def test_torch_registers_the_same() -> None:
    registered = {
        base for base, names in _overloads().items() if any(_is_registered(name, key) for name in names for key in KEYS)
    }
    assert registered == CONVERTIBLE
