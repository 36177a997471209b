"""Random `nn.Module` classes: layers of all kinds that fit one another, parameters, buffers, and containers of layers.

A *stage* is a piece of a network: what `__init__` says of it, and what `forward` does with it to `x`. The generator
follows the shape of `x` from stage to stage, so that networks run, and puts in the writes that people put in.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.differential.containers import Containing
from tests.differential.vocabulary import Shape

ACTIVATIONS = (
    "nn.ReLU()", "nn.ReLU()", "nn.ReLU(inplace=True)", "nn.Tanh()", "nn.GELU()", "nn.SiLU()", "nn.ELU()",
    "nn.LeakyReLU(0.1)", "nn.LeakyReLU(0.1, inplace=True)", "nn.Softplus()", "nn.Sigmoid()", "nn.Hardtanh()",
    "nn.Mish()", "nn.PReLU()", "nn.Identity()", "nn.Dropout(0.2)", "nn.Dropout(0.5, inplace=True)", "nn.CELU()",
    "nn.Softmax(dim=-1)", "nn.SiLU(inplace=True)", "nn.ReLU6()", "nn.Hardswish()", "nn.LogSigmoid()", "nn.SELU()",
)  # fmt: skip
FUNCTIONS = (
    "F.relu({x})", "torch.tanh({x})", "F.gelu({x})", "torch.sigmoid({x})", "F.dropout({x}, 0.2, self.training)",
    "{x}.relu()", "F.softplus({x})", "F.silu({x})", "{x} * 2", "{x} - {x}.mean()", "F.leaky_relu({x})",
    "{x}.clamp(min=0)", "F.elu({x})", "{x}.exp()", "torch.sin({x})", "F.layer_norm({x}, {x}.shape[-1:])",
)  # fmt: skip
WRITES = (
    "F.relu_(x)", "x += 1", "x *= 2", "x[0] = 0.0", "x.mul_(0.5)", "x.clamp_(min=0)", "x.tanh_()", "x += x.mean()",
    "F.relu(x, inplace=True)", "x[:, 0] = 1.0", "x.sigmoid_()", "x -= x.max()",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer's constructor, and the shape that it gives."""

    text: str
    shape: Shape
    recurrent: bool = False
    attention: bool = False


@dataclass(slots=True)
class Network:
    """A class of the program, and what it is called with."""

    name: str
    takes: Shape
    gives: Shape
    tokens: bool = False
    linears: list[str] = field(default_factory=list)
    parameters: list[str] = field(default_factory=list)


def layers(shape: Shape, rng: random.Random) -> Iterator[Layer]:
    """Layers that take a tensor of `shape`, its first size being the batch's."""
    yield Layer(rng.choice(ACTIVATIONS), shape)
    yield Layer(rng.choice(ACTIVATIONS), shape)
    match shape:
        case n, f:
            out = rng.choice((3, 4, 4))
            yield from [Layer(f"nn.Linear({f}, {out}{rng.choice(('', '', ', bias=False'))})", (n, out))] * 4
            yield Layer(f"nn.BatchNorm1d({f})", shape)
            yield Layer(f"nn.LayerNorm({f})", shape)
            yield Layer(f"nn.RMSNorm({f})", shape)
            yield Layer(f"nn.Sequential(nn.Linear({f}, {out}), {rng.choice(ACTIVATIONS)})", (n, out))
            if f % 2 == 0:
                yield Layer("nn.GLU()", (n, f // 2))
                yield Layer(f"nn.GroupNorm(2, {f})", shape)
        case n, t, f:
            out = rng.choice((3, 4))
            yield Layer(f"nn.Linear({f}, {out})", (n, t, out))
            yield Layer(f"nn.LayerNorm({f})", shape)
            for kind in ("RNN", "GRU", "LSTM"):
                yield Layer(f"nn.{kind}({f}, {out}, batch_first=True)", (n, t, out), recurrent=True)
            if f % 2 == 0:
                yield Layer(f"nn.MultiheadAttention({f}, 2, batch_first=True)", shape, attention=True)
                yield Layer(f"nn.TransformerEncoderLayer({f}, 2, 8, batch_first=True)", shape)
            yield Layer(f"nn.Conv1d({t}, {t}, 3, padding=1)", shape)
            yield Layer("nn.Flatten()", (n, t * f))
        case n, c, h, w:
            out = rng.choice((2, 4))
            yield Layer(f"nn.Conv2d({c}, {out}, 3, padding=1)", (n, out, h, w))
            yield Layer(f"nn.Conv2d({c}, {out}, 3, padding=1, bias=False)", (n, out, h, w))
            yield Layer(f"nn.BatchNorm2d({c})", shape)
            yield Layer(f"nn.GroupNorm(1, {c})", shape)
            yield Layer("nn.Dropout2d(0.2)", shape)
            yield Layer(f"nn.ConvTranspose2d({c}, {out}, 3, padding=1)", (n, out, h, w))
            if h % 2 == 0:
                yield Layer(f"nn.{rng.choice(('MaxPool2d', 'AvgPool2d'))}(2)", (n, c, h // 2, w // 2))
                yield Layer(f"nn.Conv2d({c}, {out}, 2, stride=2)", (n, out, h // 2, w // 2))
            yield Layer("nn.AdaptiveAvgPool2d(1)", (n, c, 1, 1))
            if h == 1:
                yield Layer("nn.Upsample(scale_factor=2)", (n, c, 2, 2))
            yield Layer("nn.Flatten()", (n, c * h * w))


class Modular(Containing):
    """Writes module classes."""

    def network(self, takes: Shape | None = None, tokens: bool | None = None) -> Network:
        """A class whose `forward` takes one tensor and gives a matrix."""
        tokens = self.rng.random() < 0.12 if tokens is None else tokens
        if takes is None:
            takes = (2, 3) if tokens else self.one_of((2, 4), (4, 3), (2, 4), (4, 3), (2, 3, 4), (2, 2, 4, 4))
        name = self.fresh("Net")
        net = Network(name, takes, takes, tokens)
        made: list[str] = []
        ran: list[str] = []
        shape = takes
        if tokens:
            made.append("self.embed = nn.Embedding(10, 4)")
            ran.append("x = self.embed(x)")
            net.parameters.append("embed.weight")
            shape = (*shape, 4)
        for _ in range(self.rng.randint(1, 4)):
            shape = self.stage(net, shape, made, ran)
        shape = self._to_matrix(net, shape, made, ran)
        net.gives = shape
        self.emit(f"class {name}(nn.Module):")
        self.emit("    def __init__(self):")
        self.emit("        super().__init__()")
        for line in made:
            self.emit(f"        {line}")
        self.emit("    def forward(self, x):")
        for line in ran:
            self.emit(f"        {line}")
        self.emit("        return x")
        return net

    def _to_matrix(self, net: Network, shape: Shape, made: list[str], ran: list[str]) -> Shape:
        if len(shape) > 2:
            text = self.one_of("x.flatten(1)", "x.mean(1)", "x.reshape(x.size(0), -1)", "x[:, -1]")
            if len(shape) == 4 and ("mean" in text or "-1]" in text):
                text = "x.flatten(1)"
            ran.append(f"x = {text}")
            size = 1
            for n in shape[1:]:
                size *= n
            shape = (shape[0], shape[-1] if "mean" in text or "-1]" in text else size)
        out = self.one_of(3, 3, 4, 1)
        made.append(f"self.head = nn.Linear({shape[1]}, {out})")
        ran.append("x = self.head(x)")
        net.linears.append("head")
        return shape[0], out

    def stage(self, net: Network, shape: Shape, made: list[str], ran: list[str]) -> Shape:
        """One more piece of the network."""
        kind = self.rng.random()
        if kind < 0.5:
            return self._layer(net, shape, made, ran)
        if kind < 0.6:
            ran.append(f"x = {self.rng.choice(FUNCTIONS).format(x='x')}")
            return shape
        if kind < 0.66:
            ran.append(self.rng.choice(WRITES))
            return shape
        stages = (
            self._residual, self._parameter, self._buffer, self._several, self._by_name, self._parameters,
            self._blocks, self._branching, self._kept,
        )  # fmt: skip
        return self.rng.choice(stages)(net, shape, made, ran)

    def _layer(self, net: Network, shape: Shape, made: list[str], ran: list[str]) -> Shape:
        layer = self.rng.choice(list(layers(shape, self.rng)))
        name = self.fresh("layer")
        made.append(f"self.{name} = {layer.text}")
        if layer.recurrent:
            ran.append(f"x, _ = self.{name}(x)")
        elif layer.attention:
            ran.append(f"x, _ = self.{name}(x, x, x)")
        else:
            ran.append(f"x = self.{name}(x)")
        if layer.text.startswith("nn.Linear"):
            net.linears.append(name)
        return layer.shape

    def keeping_layer(self, shape: Shape) -> str:
        """A layer that gives what it takes."""
        found = [
            layer.text
            for layer in layers(shape, self.rng)
            if layer.shape == shape and not layer.recurrent and not layer.attention
        ]
        return self.rng.choice([*found, f"nn.Linear({shape[-1]}, {shape[-1]})"])

    def _residual(self, net: Network, shape: Shape, made: list[str], ran: list[str]) -> Shape:
        name = self.fresh("block")
        made.append(f"self.{name} = nn.Sequential({self.keeping_layer(shape)}, {self.rng.choice(ACTIVATIONS)})")
        ran.append(self.one_of(f"x = x + self.{name}(x)", f"x = x + self.{name}(x)", f"x += self.{name}(x)"))
        return shape

    def _parameter(self, net: Network, shape: Shape, made: list[str], ran: list[str]) -> Shape:
        name = self.fresh("scale")
        made.append(f"self.{name} = nn.Parameter(torch.{self.one_of('ones', 'randn')}({shape[-1]}))")
        net.parameters.append(name)
        write = self.rng.random()
        if write < 0.1:
            ran.append(f"self.{name}.data.clamp_(-1, 1)")
        elif write < 0.2:
            ran += ["with torch.no_grad():", f"    self.{name}.mul_(0.9)"]
        ran.append(f"x = x {self.rng.choice('*+')} self.{name}")
        if write > 0.93:
            ran += ["with torch.no_grad():", f"    self.{name}.mul_(0.9)"]
        return shape

    def _buffer(self, net: Network, shape: Shape, made: list[str], ran: list[str]) -> Shape:
        name, size = self.fresh("mean"), shape[-1]
        made.append(f'self.register_buffer("{name}", torch.zeros({size}))')
        average = "x.mean(0)" if len(shape) == 2 else f"x.reshape(-1, {size}).mean(0)"
        ran += self.one_of(
            [f"self.{name} = 0.9 * self.{name} + 0.1 * {average}.detach()"],
            [f"self.{name} = 0.9 * self.{name} + 0.1 * {average}"],
            [f"self.{name}.mul_(0.9).add_({average}.detach(), alpha=0.1)"],
            [f"self.{name}.mul_(0.9).add_({average})"],
            ["if self.training:", "    with torch.no_grad():", f"        self.{name}.copy_({average})"],
            [f"self.{name} += 1"],
            [],
        )  # fmt: skip
        ran.append(f"x = x {self.rng.choice('-*')} self.{name}")
        return shape

    def _several(self, net: Network, shape: Shape, made: list[str], ran: list[str]) -> Shape:
        name = self.fresh("layers")
        inner = f"{self.keeping_layer(shape)} for _ in range({self.rng.randint(1, 3)})"
        made.append(self.one_of(f"self.{name} = nn.ModuleList([{inner}])", f"self.{name} = [{inner}]"))
        result = self.one_of("layer(x)", "F.relu(layer(x))", "x + layer(x)")
        ran += [f"for layer in self.{name}:", f"    x = {result}"]
        return shape

    def _by_name(self, net: Network, shape: Shape, made: list[str], ran: list[str]) -> Shape:
        name = self.fresh("heads")
        made.append(
            f'self.{name} = nn.ModuleDict({{"a": {self.keeping_layer(shape)}, "b": {self.keeping_layer(shape)}}})'
        )
        ran.append(self.one_of(
            f'x = self.{name}["a"](x) + self.{name}["b"](x)',
            f'x = self.{name}["a"](x)',
            f"x = sum(head(x) for head in self.{name}.values())",
        ))  # fmt: skip
        return shape

    def _parameters(self, net: Network, shape: Shape, made: list[str], ran: list[str]) -> Shape:
        name = self.fresh("weights")
        made.append(f"self.{name} = nn.ParameterList([nn.Parameter(torch.ones({shape[-1]})) for _ in range(2)])")
        ran += self.one_of(
            [f"for weight in self.{name}:", "    x = x * weight"],
            [f"x = x * self.{name}[0] + self.{name}[1]"],
        )  # fmt: skip
        return shape

    def _blocks(self, net: Network, shape: Shape, made: list[str], ran: list[str]) -> Shape:
        name = self.fresh("block")
        inner = ", ".join(self.keeping_layer(shape) for _ in range(self.rng.randint(2, 3)))
        made.append(f"self.{name} = nn.Sequential({inner})")
        ran += self.one_of(
            [f"x = self.{name}(x)"],
            [f"x = self.{name}[0](x)"],
            [f"for layer in self.{name}:", "    x = layer(x)"],
        )  # fmt: skip
        return shape

    def _branching(self, net: Network, shape: Shape, made: list[str], ran: list[str]) -> Shape:
        ran += self.one_of(
            ["if self.training:", "    x = x + torch.randn_like(x)"],
            ["if self.training:", "    x = x * 2", "else:", "    x = x.detach()"],
            ["if x.requires_grad:", "    x = x.clone()"],
            ["with torch.no_grad():", "    norm = x.norm()", "x = x / norm"],
            ["with torch.no_grad():", "    x = x * 0.5"],
            ["noise = torch.randn_like(x).mul_(0.1)", "x = x + noise"],
        )  # fmt: skip
        return shape

    def _kept(self, net: Network, shape: Shape, made: list[str], ran: list[str]) -> Shape:
        name = self.fresh("last")
        made.append(f"self.{name} = None")
        ran += self.one_of(
            [f"self.{name} = x", "x = x * 2"],
            [f"if self.{name} is not None:", f"    x = x + self.{name}", f"self.{name} = x.detach()"],
            [f"if self.{name} is not None:", f"    x = x + self.{name}", f"self.{name} = x"],
        )  # fmt: skip
        return shape
