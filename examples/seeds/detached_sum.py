"""Backward on a sum that begins at a detached tensor.

Often told to raise "Trying to backward through the graph a second time". It raises something else.
"""

import torch

x = torch.randn(3, requires_grad=True)
y = x * 2
z = y.detach()
w = z + 3
w.backward()
