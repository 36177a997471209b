"""A regression whose weights are tensors, written by hand."""

import torch

x = torch.randn(10, 3)
y = torch.randn(10, 1)
weight = torch.zeros(3, 1, requires_grad=True)
offset = torch.zeros(1, requires_grad=True)
for _ in range(10):
    prediction = x @ weight + offset
    loss = (prediction - y).pow(2).mean()
    loss.backward()
    weight.data.sub_(0.1 * weight.grad)
    offset.data.sub_(0.1 * offset.grad)
    weight.grad = None
    offset.grad = None
