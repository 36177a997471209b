"""`y = t @ a` is computed once, but each iteration runs backward through it."""

import torch

measure = torch.nn.MSELoss()

x = torch.tensor([1, 0], dtype=torch.float64)
t = torch.eye(2, dtype=torch.float64, requires_grad=True)
a = torch.ones(2, dtype=torch.float64, requires_grad=True)
y = t @ a

for _ in range(2):
    x_out = t @ (x + y)
    loss = measure(x_out, x)
    loss.backward()
