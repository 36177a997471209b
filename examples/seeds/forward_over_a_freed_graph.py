"""After backward the tensors are all still there: computing with them is fine, only a second backward is not."""

import torch

a = torch.tensor(1.0, requires_grad=True)
b = a * torch.tensor(2.0)
c = b * torch.tensor(3.0)
c.backward()

d = b * torch.tensor(4.0)
e = c * torch.tensor(5.0)
print("d =", d)
print("e =", e)
e.backward()
