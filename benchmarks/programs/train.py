"""Train a small language model and a discriminator of its samples on made-up sentences, on one CPU core.

The sentences are arithmetic: `12+30=42`. A transformer learns to write them, a classifier to tell true from false ones,
and a moving average of the transformer is what gets evaluated and saved.
"""

from __future__ import annotations

import copy
import io
import math
import random
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset, Subset, random_split

ALPHABET = "0123456789+-=.#"
PADDING = ALPHABET.index("#")
END = ALPHABET.index(".")


@dataclass(frozen=True)
class Config:
    seed: int = 7
    examples: int = 640
    length: int = 16
    width: int = 32
    heads: int = 4
    depth: int = 2
    dropout: float = 0.1
    batch_size: int = 32
    epochs: int = 3
    warm_up: int = 8
    learning_rate: float = 3e-3
    weight_decay: float = 0.01
    accumulate: int = 2
    clip: float = 1.0
    smoothing: float = 0.05
    average: float = 0.98
    patience: int = 2
    log_every: int = 5


def encode(sentence: str, length: int) -> Tensor:
    letters = [ALPHABET.index(letter) for letter in sentence[: length - 1]]
    letters.append(END)
    letters.extend([PADDING] * (length - len(letters)))
    return torch.tensor(letters)


def decode(letters: Tensor) -> str:
    text = "".join(ALPHABET[int(letter)] for letter in letters)
    return text.partition(".")[0]


def is_true(sentence: str) -> bool:
    left, equals, right = sentence.partition("=")
    if not equals or not right.lstrip("-").isdigit():
        return False
    sign = 1 if "+" in left else -1
    first, _, second = left.partition("+" if sign == 1 else "-")
    if not (first.isdigit() and second.isdigit()):
        return False
    return int(first) + sign * int(second) == int(right)


class Sums(Dataset[tuple[Tensor, Tensor]]):
    """Half of the sentences are true; the others are off by a little."""

    def __init__(self, examples: int, length: int, seed: int) -> None:
        generator = random.Random(seed)
        self.length = length
        self.sentences: list[str] = []
        self.labels: list[float] = []
        for _ in range(examples):
            sentence, label = self._draw(generator)
            self.sentences.append(sentence)
            self.labels.append(label)

    def __len__(self) -> int:
        return len(self.sentences)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        return encode(self.sentences[index], self.length), torch.tensor(self.labels[index])

    @staticmethod
    def _draw(generator: random.Random) -> tuple[str, float]:
        first, second = generator.randrange(100), generator.randrange(100)
        sign = generator.choice("+-")
        result = first + second if sign == "+" else first - second
        if generator.random() < 0.5:
            return f"{first}{sign}{second}={result}", 1.0
        return f"{first}{sign}{second}={result + generator.choice([-10, -1, 1, 10])}", 0.0


class Positions(nn.Module):
    """Sines and cosines, as nobody learns them."""

    table: Tensor

    def __init__(self, length: int, width: int) -> None:
        super().__init__()
        place = torch.arange(length).unsqueeze(1)
        rate = torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
        table = torch.zeros(length, width)
        table[:, 0::2] = torch.sin(place * rate)
        table[:, 1::2] = torch.cos(place * rate)
        self.register_buffer("table", table)

    def forward(self, embedded: Tensor) -> Tensor:
        return embedded + self.table[: embedded.size(1)]


class Attention(nn.Module):
    def __init__(self, width: int, heads: int, dropout: float, causal: bool) -> None:
        super().__init__()
        if width % heads:
            raise ValueError(f"{heads} heads do not divide a width of {width}")
        self.heads = heads
        self.causal = causal
        self.project_in = nn.Linear(width, 3 * width)
        self.project_out = nn.Linear(width, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, inputs: Tensor, padding: Tensor | None = None) -> Tensor:
        batch, length, width = inputs.shape
        query, key, value = self.project_in(inputs).chunk(3, dim=-1)
        query = query.view(batch, length, self.heads, -1).transpose(1, 2)
        key = key.view(batch, length, self.heads, -1).transpose(1, 2)
        value = value.view(batch, length, self.heads, -1).transpose(1, 2)
        scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        if self.causal:
            future = torch.ones(length, length, dtype=torch.bool, device=inputs.device).triu(1)
            scores = scores.masked_fill(future, float("-inf"))
        if padding is not None:
            scores = scores.masked_fill(padding[:, None, None, :], -1e9)
        weights = self.dropout(scores.softmax(dim=-1))
        mixed = (weights @ value).transpose(1, 2).reshape(batch, length, width)
        return self.project_out(mixed)


class FeedForward(nn.Module):
    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self.widen = nn.Linear(width, 4 * width)
        self.narrow = nn.Linear(4 * width, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, inputs: Tensor) -> Tensor:
        hidden = F.gelu(self.widen(inputs))
        return self.dropout(self.narrow(hidden))


class Block(nn.Module):
    def __init__(self, config: Config, causal: bool) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(config.width)
        self.attention = Attention(config.width, config.heads, config.dropout, causal)
        self.feed_forward_norm = nn.LayerNorm(config.width)
        self.feed_forward = FeedForward(config.width, config.dropout)

    def forward(self, inputs: Tensor, padding: Tensor | None = None) -> Tensor:
        attended = inputs + self.attention(self.attention_norm(inputs), padding)
        return attended + self.feed_forward(self.feed_forward_norm(attended))


class Writer(nn.Module):
    """Predicts the next letter; its input and output embeddings are one tensor."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.embedding = nn.Embedding(len(ALPHABET), config.width, padding_idx=PADDING)
        self.positions = Positions(config.length, config.width)
        self.blocks = nn.ModuleList([Block(config, causal=True) for _ in range(config.depth)])
        self.norm = nn.LayerNorm(config.width)
        self.bias = nn.Parameter(torch.zeros(len(ALPHABET)))
        self.apply(self._initialize)

    def forward(self, letters: Tensor) -> Tensor:
        padding = letters == PADDING
        hidden = self.positions(self.embedding(letters))
        for block in self.blocks:
            hidden = block(hidden, padding)
        hidden = self.norm(hidden)
        return F.linear(hidden, self.embedding.weight, self.bias)

    @staticmethod
    def _initialize(module: nn.Module) -> None:
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=0.02)
            nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=0.1)

    @torch.no_grad()
    def write(self, beginning: str, length: int, temperature: float = 0.5) -> str:
        letters = torch.tensor([[ALPHABET.index(letter) for letter in beginning]])
        while letters.size(1) < length:
            logits = self(letters)[:, -1] / temperature
            following = torch.multinomial(logits.softmax(dim=-1), 1)
            letters = torch.cat([letters, following], dim=1)
            if following.item() == END:
                break
        return decode(letters[0])


class Critic(nn.Module):
    """Says whether a sentence is true, from letters or from a distribution over letters."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.embedding = nn.Linear(len(ALPHABET), config.width, bias=False)
        self.recurrent = nn.GRU(config.width, config.width, batch_first=True, bidirectional=True)
        self.block = Block(replace(config, width=2 * config.width), causal=False)
        self.head = nn.Sequential(
            nn.LayerNorm(2 * config.width),
            nn.Linear(2 * config.width, config.width),
            nn.Tanh(),
            nn.Dropout(config.dropout),
            nn.Linear(config.width, 1),
        )

    def forward(self, letters: Tensor) -> Tensor:
        if not letters.is_floating_point():
            letters = F.one_hot(letters, len(ALPHABET)).float()
        hidden, _ = self.recurrent(self.embedding(letters))
        hidden = self.block(hidden)
        pooled = hidden.mean(dim=1)
        return self.head(pooled).squeeze(-1)


class Average:
    """A moving average of a module's parameters, in a copy that is never trained."""

    def __init__(self, module: nn.Module, decay: float) -> None:
        self.module = copy.deepcopy(module).requires_grad_(False).eval()
        self.decay = decay
        self.updates = 0

    @torch.no_grad()
    def update(self, module: nn.Module) -> None:
        self.updates += 1
        decay = min(self.decay, self.updates / (self.updates + 9))
        for kept, parameter in zip(self.module.parameters(), module.parameters(), strict=True):
            kept.lerp_(parameter, 1 - decay)
        for kept, buffer in zip(self.module.buffers(), module.buffers(), strict=True):
            kept.copy_(buffer)


class Meter:
    """Sums numbers, never tensors with a graph."""

    def __init__(self, window: int = 20) -> None:
        self.total = 0.0
        self.count = 0
        self.recent: deque[float] = deque(maxlen=window)

    def add(self, value: float, count: int = 1) -> None:
        self.total += value * count
        self.count += count
        self.recent.append(value)

    @property
    def mean(self) -> float:
        return self.total / max(self.count, 1)

    @property
    def lately(self) -> float:
        return sum(self.recent) / max(len(self.recent), 1)


def writing_loss(logits: Tensor, letters: Tensor, smoothing: float = 0.0) -> Tensor:
    """Each letter is predicted from those before it; padding counts for nothing."""
    predicted = logits[:, :-1].reshape(-1, logits.size(-1))
    wanted = letters[:, 1:].reshape(-1)
    return F.cross_entropy(predicted, wanted, ignore_index=PADDING, label_smoothing=smoothing)


def parameter_groups(module: nn.Module, weight_decay: float) -> list[dict[str, object]]:
    """Matrices decay, everything else does not."""
    decayed = [parameter for parameter in module.parameters() if parameter.dim() > 1]
    others = [parameter for parameter in module.parameters() if parameter.dim() <= 1]
    return [{"params": decayed, "weight_decay": weight_decay}, {"params": others, "weight_decay": 0.0}]


def schedule(config: Config, steps: int, step: int) -> float:
    if step < config.warm_up:
        return (step + 1) / config.warm_up
    progress = (step - config.warm_up) / max(1, steps - config.warm_up)
    return 0.5 * (1 + math.cos(math.pi * min(1.0, progress)))


def gradient_norms(module: nn.Module) -> Iterator[tuple[str, float]]:
    for name, parameter in module.named_parameters():
        if parameter.grad is not None:
            yield name, parameter.grad.norm().item()


@torch.no_grad()
def evaluate(writer: nn.Module, critic: nn.Module, loader: DataLoader[tuple[Tensor, Tensor]]) -> tuple[float, float]:
    """The writer's perplexity and the critic's accuracy."""
    was_training = critic.training
    critic.eval()
    losses, hits = Meter(), Meter()
    for letters, labels in loader:
        losses.add(writing_loss(writer(letters), letters).item(), len(letters))
        guesses = (critic(letters) > 0).float()
        hits.add((guesses == labels).float().mean().item(), len(letters))
    critic.train(was_training)
    return math.exp(losses.mean), hits.mean


config = Config()
torch.set_num_threads(1)
torch.manual_seed(config.seed)
random.seed(config.seed)

data = Sums(config.examples, config.length, config.seed)
held_out = len(data) // 8
training_data, evaluation_data = random_split(
    data, [len(data) - held_out, held_out], generator=torch.Generator().manual_seed(config.seed)
)
training_loader = DataLoader(training_data, config.batch_size, shuffle=True, drop_last=True)
evaluation_loader = DataLoader(evaluation_data, config.batch_size)
small = Subset(data, range(4))

writer = Writer(config)
critic = Critic(config)
average = Average(writer, config.average)
steps = config.epochs * len(training_loader) // config.accumulate

writer_optimizer = torch.optim.AdamW(parameter_groups(writer, config.weight_decay), lr=config.learning_rate)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=config.learning_rate, betas=(0.5, 0.99))
scheduler = torch.optim.lr_scheduler.LambdaLR(writer_optimizer, lambda step: schedule(config, steps, step))
critic_criterion = nn.BCEWithLogitsLoss()

best = float("inf")
bad_epochs = 0
checkpoint = io.BytesIO()
history: list[dict[str, float]] = []

print(f"{sum(parameter.numel() for parameter in writer.parameters())} parameters write")
print(f"{sum(parameter.numel() for parameter in critic.parameters())} parameters judge")

for epoch in range(config.epochs):
    started = time.monotonic()
    writer.train()
    critic.train()
    writer_losses, critic_losses = Meter(), Meter()
    writer_optimizer.zero_grad(set_to_none=True)
    for batch, (letters, labels) in enumerate(training_loader):
        # The critic learns from true and false sentences, and from what the writer would have written.
        with torch.no_grad():
            written = writer(letters).softmax(dim=-1)
        critic_loss = critic_criterion(critic(letters), labels)
        critic_loss = critic_loss + 0.1 * critic_criterion(critic(written), torch.zeros_like(labels))
        critic_optimizer.zero_grad(set_to_none=True)
        critic_loss.backward()
        nn.utils.clip_grad_norm_(critic.parameters(), config.clip)
        critic_optimizer.step()
        critic_losses.add(critic_loss.item(), len(letters))

        # The writer learns from the true sentences only; the critic's opinion is a small part of its loss.
        logits = writer(letters)
        loss = writing_loss(logits, letters, config.smoothing)
        critic.requires_grad_(False)
        opinion = critic(logits.softmax(dim=-1))
        loss = loss + 0.01 * F.softplus(-opinion).mean()
        (loss / config.accumulate).backward()
        critic.requires_grad_(True)
        writer_losses.add(loss.item(), len(letters))
        if (batch + 1) % config.accumulate == 0:
            norm = nn.utils.clip_grad_norm_(writer.parameters(), config.clip)
            writer_optimizer.step()
            scheduler.step()
            writer_optimizer.zero_grad(set_to_none=True)
            average.update(writer)
        if batch % config.log_every == 0:
            rate = scheduler.get_last_lr()[0]
            print(
                f"{epoch}.{batch:02} writes {writer_losses.lately:.3f} judges {critic_losses.lately:.3f} at {rate:.4f}"
            )

    perplexity, accuracy = evaluate(average.module, critic, evaluation_loader)
    history.append({"loss": writer_losses.mean, "perplexity": perplexity, "accuracy": accuracy})
    print(f"epoch {epoch}: perplexity {perplexity:.2f}, accuracy {accuracy:.2f}, {time.monotonic() - started:.1f} s")
    if perplexity < best:
        best, bad_epochs = perplexity, 0
        checkpoint = io.BytesIO()
        torch.save({"config": asdict(config), "writer": average.module.state_dict()}, checkpoint)
    else:
        bad_epochs += 1
        if bad_epochs >= config.patience:
            print("no better for a while")
            break

checkpoint.seek(0)
restored = Writer(config)
restored.load_state_dict(torch.load(checkpoint)["writer"])
restored.eval()
for letters, _ in small:
    beginning = decode(letters).partition("=")[0] + "="
    sentence = restored.write(beginning, config.length)
    print(f"{sentence:<16} {'true' if is_true(sentence) else 'false'}")
