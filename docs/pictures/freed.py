import torch
w = torch.ones(3, requires_grad=True)
y = w.exp()
y.sum().backward()
y
