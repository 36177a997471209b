"""The same computation with a second name for the result; the first leaf can still be asked for its gradient."""

import torch

x = torch.tensor([1.0], requires_grad=True)
y = x + 1
z = y
loss = z * 2
loss.backward()
print(x.grad)
