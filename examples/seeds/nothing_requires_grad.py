"""No tensor here was ever asked to require grad.

Often told to raise "One of the differentiated Tensors does not require grad", which is what `torch.autograd.grad` says.
"""

import torch

x = torch.randn(3)
y = x * 2
y.backward()
