"""A comment silences a rule that does not exist.

A code or a name in `# autograd: ignore[...]` that no rule has silences nothing: most often it is misspelt. In a
`# noqa` it may be another linter's, and is left alone.

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

RULE = Rule("AG003", "unknown-suppression", "A comment silences a rule that does not exist", None, __doc__ or "")
