"""`y += 1` after a product and before a sum: the product saved its factors, not `y`, and a sum saves nothing.

Often told to fail now and then. It always runs.
"""

import torch

x = torch.randn(3, requires_grad=True)
y = x * 2
y += 1
loss = y.sum()
loss.backward()
print(x.grad)
