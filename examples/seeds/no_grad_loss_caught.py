"""One factor is computed under `no_grad`, so what follows has no graph, although grad mode is on again."""

import torch

x = torch.tensor([2.0], requires_grad=True)
y = x * 3
with torch.no_grad():
    z = y * 2
loss = z**2
try:
    loss.backward()
except RuntimeError as error:
    print(f"backward failed: {error}")

print("still running")
