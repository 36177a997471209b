import torch
w = torch.ones(2, 3, requires_grad=True)
h = w + 1
row = h[0]
row.mul_(2)
h
