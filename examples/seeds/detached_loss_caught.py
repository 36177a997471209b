"""The loss is computed from a detached tensor, and a handler swallows what backward raises."""

import torch

x = torch.tensor([2.0], requires_grad=True)
y = x * 3
z = y.detach()
loss = z**2
try:
    loss.backward()
except RuntimeError as error:
    print(f"backward failed: {error}")

print("still running")
