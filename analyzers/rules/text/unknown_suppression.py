"""A comment ignores a rule that does not exist.

A code or name in `# autograd: ignore[...]` that matches no rule suppresses nothing; usually it is misspelt. In a
`# noqa` it may belong to another linter, and is left alone.

## Reported
```python
import torch
x = torch.ones(3, requires_grad=True)
y = x.exp()
y.add_(1)  # autograd: ignore[AG1044]  # error: [saved-tensor-modified]  # warning: [unknown-suppression]
y.sum().backward()  # raises: RuntimeError "modified by an inplace operation"
```
## Not reported
```python
import torch
x = torch.ones(3)  # noqa: AG999
```
"""

from __future__ import annotations

from analyzers.drafting.base import Rule

RULE = Rule("AG003", "unknown-suppression", "A comment ignores a rule that does not exist", None, __doc__ or "")
