"""The graph keeps what it saved: deleting the name `b` does not delete the tensor that `MulBackward0` needs."""

import torch

a = torch.tensor(1.0, requires_grad=True)
b = torch.tensor(2.0, requires_grad=True)
c = a * b
for _ in range(5):
    c.backward(retain_graph=True)
    print(a.grad, b.grad)

del b
for _ in range(3):
    c.backward(retain_graph=True)
print(a.grad)
