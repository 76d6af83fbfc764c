"""Train a small target transformer and store it as a file that `certiformer encode` takes.

    python examples/train_target.py examples/target.safetensors
    python examples/train_target.py examples/gated.safetensors --gated

The model reads one-hot tokens, X of shape (n, d_in), under a causal mask and without positions;
the rows of its output are logits over the tokens. Task: at every position the most frequent token
up to there, other than the token there. Positions at which there is none, or a tie, do not count.

It takes a minute or two on one core; the same seed gives the same weights on the same machine.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor
from torch.nn.functional import cross_entropy, one_hot, silu

LENGTH = 12
"""Tokens of an input."""
BATCH, RATE = 128, 0.01
HELD_OUT = 20_000
"""Fresh inputs on which accuracy is counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """H, L, d, d_in, and r neurons of gated blocks, 0 for attention only."""

    heads: int
    layers: int
    width: int
    tokens: int
    neurons: int = 0


PLAIN = Sizes(heads=2, layers=2, width=2, tokens=4)
GATED = Sizes(heads=1, layers=2, width=2, tokens=3, neurons=3)


def initial(sizes: Sizes) -> dict[str, Tensor]:
    """Weights by their names in the file."""
    layers, heads, d, d_in = sizes.layers, sizes.heads, sizes.width, sizes.tokens
    tall, flat = (layers, heads, d_in, d), (layers, heads, d, d_in)
    shapes = {"W_Q": tall, "W_K": tall, "W_V": tall, "W_O": flat}
    if sizes.neurons:
        wide, down = (layers, d_in, sizes.neurons), (layers, sizes.neurons, d_in)
        shapes |= {"W_g": wide, "W_u": wide, "W_d": down}
    return {
        name: (torch.randn(shape) / shape[-2] ** 0.5).requires_grad_()
        for name, shape in shapes.items()
    }


def run(weights: dict[str, Tensor], stream: Tensor) -> Tensor:
    """X^L of shape (batch, n, d_in): softmax over logits / sqrt(d), then SiLU gates if any."""
    later = torch.ones(stream.shape[1], stream.shape[1]).triu(1).bool()
    for layer in range(len(weights["W_Q"])):
        query, key, value = (
            torch.einsum("bnt,htd->bhnd", stream, weights[name][layer])
            for name in ("W_Q", "W_K", "W_V")
        )
        logits = query @ key.transpose(2, 3) / query.shape[3] ** 0.5
        attention = logits.masked_fill(later, -torch.inf).softmax(-1)
        stream = torch.einsum("bhnd,hdt->bnt", attention @ value, weights["W_O"][layer])
        if "W_g" in weights:
            gates = silu(stream @ weights["W_g"][layer])
            stream = gates * (stream @ weights["W_u"][layer]) @ weights["W_d"][layer]
    return stream


def batch(tokens: int, count: int, source: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """One-hot inputs, the right token at every position, and where there is one."""
    skew = torch.rand(count, tokens, generator=source)
    inputs = one_hot(torch.multinomial(skew, LENGTH, True, generator=source), tokens).float()
    others = inputs.cumsum(1) * (1 - inputs)
    first, second = others.topk(2, dim=-1).values.unbind(-1)
    return inputs, others.argmax(-1), first > second


def train(weights: dict[str, Tensor], tokens: int, steps: int, source: torch.Generator) -> None:
    """Adam on the cross-entropy, its rate falling like a cosine."""
    optimiser = torch.optim.Adam(weights.values(), lr=RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    for _ in range(steps):
        inputs, right, counts = batch(tokens, BATCH, source)
        optimiser.zero_grad()
        cross_entropy(run(weights, inputs)[counts], right[counts]).backward()
        optimiser.step()
        schedule.step()


def accuracy(weights: dict[str, Tensor], tokens: int, source: torch.Generator) -> float:
    """The share of right tokens on fresh inputs."""
    inputs, right, counts = batch(tokens, HELD_OUT, source)
    with torch.no_grad():
        found = run(weights, inputs).argmax(-1)
    return (found == right)[counts].double().mean().item()


def main() -> None:
    """Train, print the accuracy, and write the file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--gated", action="store_true", help="gated blocks, one head")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, help="by default 1500, or 4000 if gated")
    chosen = parser.parse_args()
    torch.set_num_threads(1)  # the matrices are tiny
    torch.manual_seed(chosen.seed)
    source = torch.Generator().manual_seed(chosen.seed)
    sizes = GATED if chosen.gated else PLAIN
    weights = initial(sizes)
    train(weights, sizes.tokens, chosen.steps or (4000 if chosen.gated else 1500), source)
    metadata = {"logit_scale": "1/sqrt(d)", "mask": "causal", "activation": "silu"}
    save_file(
        {name: weight.detach().contiguous() for name, weight in weights.items()},
        chosen.file,
        metadata,
    )
    right = accuracy(weights, sizes.tokens, source)
    sys.stdout.write(f"{chosen.file}: {right:.2%} right on {HELD_OUT} fresh inputs\n")


if __name__ == "__main__":
    main()
