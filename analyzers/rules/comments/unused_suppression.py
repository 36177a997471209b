"""A comment silences findings that do not exist.

The fault was mended, or moved, and the comment stayed: the next one on that line would go unseen. Only codes of ours
are looked at: the codes of other linters are theirs, and a bare `# noqa` may be there for one of them. A comment is not
called unused while the file does not parse, nor where a run has reached its bound, nor for a rule that is switched off.

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

RULE = Rule("AG002", "unused-suppression", "A comment silences findings that do not exist", None, __doc__ or "")
