"""A character model that carries its hidden state from one stretch of text to the next.

Truncated backpropagation through time needs a `detach` where one stretch ends: without it the graph of the second
stretch goes on into the first one, which backward has freed.
"""

import torch
from torch import nn

TEXT = "the quick brown fox jumps over the lazy dog. pack my box with five dozen liquor jugs. " * 6
STRETCH = 32
BATCH = 4


class Vocabulary:
    def __init__(self, text):
        self.characters = sorted(set(text))
        self.index = {character: number for number, character in enumerate(self.characters)}

    def __len__(self):
        return len(self.characters)

    def encode(self, text):
        return torch.tensor([self.index[character] for character in text])


class CharRNN(nn.Module):
    def __init__(self, size, embedding=16, hidden=48):
        super().__init__()
        self.hidden = hidden
        self.embed = nn.Embedding(size, embedding)
        self.rnn = nn.GRU(embedding, hidden, batch_first=True)
        self.head = nn.Linear(hidden, size)

    def initial_state(self, batch):
        return torch.zeros(1, batch, self.hidden)

    def forward(self, characters, state):
        features, state = self.rnn(self.embed(characters), state)
        return self.head(features), state


def stretches(codes):
    """Pairs of inputs and targets, in the order of the text."""
    length = len(codes) // BATCH
    rows = codes[: length * BATCH].view(BATCH, length)
    for start in range(0, length - STRETCH - 1, STRETCH):
        yield rows[:, start : start + STRETCH], rows[:, start + 1 : start + STRETCH + 1]


def train(epochs=2):
    vocabulary = Vocabulary(TEXT)
    codes = vocabulary.encode(TEXT)
    model = CharRNN(len(vocabulary))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    criterion = nn.CrossEntropyLoss()

    for epoch in range(epochs):
        state = model.initial_state(BATCH)
        total = 0.0
        for inputs, targets in stretches(codes):
            optimizer.zero_grad()
            scores, state = model(inputs, state)
            loss = criterion(scores.reshape(-1, len(vocabulary)), targets.reshape(-1))
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}: {total:.2f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    train()
