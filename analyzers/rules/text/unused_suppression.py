"""A comment ignores findings that are not there.

The fault was fixed or moved, but the comment stayed: it would hide the next fault on that line. Only this tool's codes
are checked: other codes belong to other linters, and so may a bare `# noqa`. A comment is never reported as unused
while the file does not parse, when a run was cut short by its limits, or for a rule that is disabled.

## Reported
```python
import torch
x = torch.ones(3, requires_grad=True)
y = x.exp()
y = y.add(1)  # autograd: ignore[AG104]  # info: [unused-suppression]
y.sum().backward()
```
## Fixed
```python fixed
import torch
x = torch.ones(3, requires_grad=True)
y = x.exp()
y = y.add(1)
y.sum().backward()
```
## One code of several
```python
import torch
x = torch.ones(3, requires_grad=True)
y = x.exp()
y.add_(1)  # noqa: E501, AG104, AG105  # info: [unused-suppression]
y.sum().backward()  # raises: RuntimeError "modified by an inplace operation"
```
## Not reported
```python
import torch
x = torch.ones(3, requires_grad=True)
y = x.exp()
y.add_(1)  # autograd: ignore[saved-tensor-modified]
y.sum().backward()  # raises: RuntimeError "modified by an inplace operation"
```
"""

from __future__ import annotations

from analyzers.drafting.base import Rule

RULE = Rule("AG002", "unused-suppression", "A comment ignores findings that are not there", None, __doc__ or "")
