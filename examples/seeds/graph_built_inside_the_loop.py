"""The same loss, with `t @ a` computed anew in each iteration: each backward has a graph of its own."""

import torch

measure = torch.nn.MSELoss()

x = torch.tensor([1, 0], dtype=torch.float64)
t = torch.eye(2, dtype=torch.float64, requires_grad=True)
a = torch.ones(2, dtype=torch.float64, requires_grad=True)

for _ in range(2):
    x_out = t @ (x + t @ a)
    loss = measure(x_out, x)
    loss.backward()
