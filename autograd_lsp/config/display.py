"""What an editor shows, beyond the findings of what is open, as its user wants it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from autograd_lsp.config.layer import ConfigError


@dataclass(frozen=True, slots=True)
class Display:
    """Hints behind the names that a line binds, a lens over each backward, findings of what is not open, how the names
    of tensors are coloured, and who called whom."""

    requires_grad: bool = True
    grad_fn: bool = True
    shape: bool = False
    reach: bool = True
    workspace: bool = True
    tokens: bool = False
    calls: bool = False

    @property
    def has_hints(self) -> bool:
        return self.requires_grad or self.grad_fn or self.shape


KEYS = {
    ("inlayHints", "requiresGrad"): ("requires_grad", "After a bound name, show whether the tensor requires grad."),
    ("inlayHints", "gradFn"): ("grad_fn", "After a bound name, show the operator that made the tensor."),
    ("inlayHints", "shape"): ("shape", "After a bound name, show the tensor's shape."),
    ("codeLens", "reach"): ("reach", "Above a backward, show which parameters it reaches."),
    ("diagnostics", "workspace"): ("workspace", "Also report findings in files that are not open."),
    ("callHierarchy",): ("calls", "Answer who called a function, and what it called, as the analyzer ran it."),
    ("semanticTokens",): ("tokens", "Tell names of tensors apart: requiresGrad, leaf, detached."),
}
"""By key, which may lie in a group, the field and what it is for."""


def read_display(table: Mapping[str, Any], where: str) -> Display:
    """From an editor's settings, which hold other keys too; `where` stands before the key in a `ConfigError`."""
    values: dict[str, bool] = {}
    for (*groups, key), (name, _) in KEYS.items():
        inner: Any = table
        for group in groups:
            inner = inner.get(group)
            if inner is None:
                break
            if not isinstance(inner, Mapping):
                raise ConfigError(f"{where}{group}: expected a table, not {inner!r}")
        value = None if inner is None else inner.get(key)
        if value is None:
            continue
        if not isinstance(value, bool):
            raise ConfigError(f"{where}{'.'.join([*groups, key])}: expected true or false, not {value!r}")
        values[name] = value
    return Display(**values)
