"""A GAN whose discriminator steps between the generator's forward pass and the generator's backward pass.

The generator's loss is computed through the discriminator, so its graph has saved the discriminator's weights.
`optimizer.step()` writes them in place, and backward refuses to use them.
"""

import math

import torch
from torch import nn

NOISE = 8
BATCH = 32


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(NOISE, 32),
            nn.LeakyReLU(0.2),
            nn.Linear(32, 2),
        )

    def forward(self, noise):
        return self.layers(noise)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(2, 32),
            nn.LeakyReLU(0.2),
            nn.Linear(32, 32),
            nn.LeakyReLU(0.2),
            nn.Linear(32, 1),
        )

    def forward(self, points):
        return self.layers(points)


def real_points(count):
    angle = torch.rand(count) * 2 * math.pi
    return torch.stack([angle.cos(), angle.sin()], dim=1) + 0.05 * torch.randn(count, 2)


def train(steps=200):
    generator = Generator()
    discriminator = Discriminator()
    g_optimizer = torch.optim.Adam(generator.parameters(), lr=1e-3)
    d_optimizer = torch.optim.Adam(discriminator.parameters(), lr=1e-3)
    criterion = nn.BCEWithLogitsLoss()
    ones = torch.ones(BATCH, 1)
    zeros = torch.zeros(BATCH, 1)

    for step in range(steps):
        fake = generator(torch.randn(BATCH, NOISE))
        fake_scores = discriminator(fake)
        g_loss = criterion(fake_scores, ones)

        d_optimizer.zero_grad()
        real_loss = criterion(discriminator(real_points(BATCH)), ones)
        fake_loss = criterion(discriminator(fake.detach()), zeros)
        d_loss = real_loss + fake_loss
        d_loss.backward()
        d_optimizer.step()

        g_optimizer.zero_grad()
        g_loss.backward()
        g_optimizer.step()

        if step % 50 == 0:
            print(f"step {step}: discriminator {d_loss.item():.3f}, generator {g_loss.item():.3f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    train()
