import torch
w = torch.ones(3, requires_grad=True)
with torch.no_grad():
    y = w * 2
loss = (w * y).sum()
loss
