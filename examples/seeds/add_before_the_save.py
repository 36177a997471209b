"""`y.add_(1)` comes before `y**2` saves `y`: the version is taken at the save, so nothing has changed since.

Often told to lose the history of `y`. It runs: an in-place operation adds itself to the history.
"""

import torch

x = torch.tensor([2.0], requires_grad=True)
y = x * 3
y.add_(1)
loss = y**2
loss.backward()
print(x.grad)
