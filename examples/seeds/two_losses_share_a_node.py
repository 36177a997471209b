"""Two losses hang on one product. The first backward frees it, and the second finds it freed."""

import torch

a = torch.rand(10, requires_grad=True)
y = a * 2

loss_0 = (2 * y).sum()
loss_0.backward()

loss_1 = (2 * y).sum()
loss_1.backward()
