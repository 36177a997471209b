"""A classifier in epochs over a data loader, with a pass of evaluation."""

import torch
from torch import nn, optim
from torch.nn import functional


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 8)
        self.layers = nn.ModuleList([nn.Linear(8, 8), nn.Linear(8, 8)])
        self.scale = nn.Parameter(torch.ones(8))

    def forward(self, x):
        x = torch.sigmoid(self.first(x))
        for layer in self.layers:
            x = functional.relu(layer(x))
        logits = torch.mul(x, self.scale)
        return logits[:, :3]


data = torch.utils.data.TensorDataset(torch.randn(24, 4), torch.randint(0, 3, (24,)))
loader = torch.utils.data.DataLoader(data, batch_size=8)
model = Net()
criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for _ in range(2):
    total = 0.0
    for features, labels in loader:
        optimizer.zero_grad()
        output = model(features)
        loss = criterion(output, labels)
        loss.backward()
        optimizer.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        right = (model(data.tensors[0]).argmax(1) == data.tensors[1]).sum().item()
    model.train()
