"""A regression with residual blocks that add their input in place.

`out += x` saves one allocation. But tanh has saved its result for its own backward, and that result is what is
written, so the first backward raises.
"""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        out = torch.tanh(self.linear(self.norm(x)))
        out += x
        return out


class Regressor(nn.Module):
    def __init__(self, features, width=24, depth=2):
        super().__init__()
        self.stem = nn.Linear(features, width)
        self.blocks = nn.ModuleList([Residual(width) for _ in range(depth)])
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x).squeeze(-1)


def make_data(count=256, features=5):
    inputs = torch.randn(count, features)
    weights = torch.linspace(-1, 1, features)
    targets = (inputs * weights).sum(dim=1) + 0.1 * torch.randn(count)
    return TensorDataset(inputs, targets)


def train(epochs=3):
    loader = DataLoader(make_data(), batch_size=32, shuffle=True)
    model = Regressor(features=5)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    criterion = nn.MSELoss()

    for epoch in range(epochs):
        running_loss = 0.0
        for inputs, targets in loader:
            optimizer.zero_grad()
            predictions = model(inputs)
            loss = criterion(predictions, targets)
            loss.backward()
            optimizer.step()
            running_loss += loss.item()
        print(f"epoch {epoch}: {running_loss / len(loader):.4f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    train()
