"""A whole number makes an integer tensor, and those have no gradient."""

import torch

a = torch.tensor(1, requires_grad=True)
b = a * torch.tensor(2)
c = b * torch.tensor(3)
