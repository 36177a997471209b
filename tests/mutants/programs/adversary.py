"""Two networks against each other, each with an optimizer."""

import torch
from torch import nn

generator = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 3))
critic = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
g_optimizer = torch.optim.Adam(generator.parameters(), lr=0.01)
c_optimizer = torch.optim.Adam(critic.parameters(), lr=0.01)
for _ in range(20):
    real = torch.randn(6, 3)
    fake = generator(torch.randn(6, 2))
    c_optimizer.zero_grad()
    c_loss = critic(fake.detach()).mean() - critic(real).mean()
    c_loss.backward()
    c_optimizer.step()
    g_optimizer.zero_grad()
    g_loss = -critic(fake).mean()
    g_loss.backward()
    g_optimizer.step()
