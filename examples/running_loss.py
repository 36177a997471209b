"""An autoencoder that learns well, and keeps the graph of every batch of an epoch alive.

`running_loss` adds up tensors, not numbers, so it holds on to the history of each. Nothing raises, and memory grows
with the length of the epoch. The loop over the held-out data does it right.
"""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Autoencoder(nn.Module):
    def __init__(self, features=20, code=4):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(features, 16), nn.ReLU(), nn.Linear(16, code))
        self.decoder = nn.Sequential(nn.Linear(code, 16), nn.ReLU(), nn.Linear(16, features))

    def forward(self, x):
        return self.decoder(self.encoder(x))


def make_data(count, features=20, rank=3):
    factors = torch.randn(count, rank)
    directions = torch.randn(rank, features)
    return TensorDataset(factors @ directions)


def evaluate(model, loader, criterion):
    model.eval()
    total = 0.0
    with torch.no_grad():
        for (batch,) in loader:
            total += criterion(model(batch), batch).item()
    return total / len(loader)


def train(epochs=2):
    train_loader = DataLoader(make_data(256), batch_size=32, shuffle=True)
    test_loader = DataLoader(make_data(64), batch_size=32)
    model = Autoencoder()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    criterion = nn.MSELoss()

    for epoch in range(epochs):
        model.train()
        running_loss = 0.0
        for (batch,) in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(batch), batch)
            loss.backward()
            optimizer.step()
            running_loss += loss
        average = running_loss / len(train_loader)
        held_out = evaluate(model, test_loader, criterion)
        print(f"epoch {epoch}: training {average:.3f}, held out {held_out:.3f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    train()
