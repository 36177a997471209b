"""Binding the name of an input to a result does not close a circle: a graph has nodes, not names.

Often told to raise "Detected a cycle in the autograd graph". It runs.
"""

import torch

x = torch.tensor([1.0], requires_grad=True)
y = x + 1
x = y
loss = x * 2
loss.backward()
