import torch
w = torch.ones(3, requires_grad=True)
x = torch.ones(3)
y = w.exp()
z = w * x
loss = (y + z).sum()
loss
