import torch
w = torch.ones(3, requires_grad=True)
b = torch.zeros(3, requires_grad=True)
x = torch.ones(3)
loss = (w * x + b).sum()
loss
