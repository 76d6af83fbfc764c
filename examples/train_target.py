"""Train a small target transformer and store it as a file that `certiformer encode` takes.

    python examples/train_target.py examples/target.safetensors
    python examples/train_target.py examples/gated.safetensors --gated

The model reads one-hot tokens, X of shape (n, d_in), under a causal mask, without positions; the
rows of its output are logits over the tokens. Task: at every position, the most frequent token up
to there that is not the token there. Positions at which there is none, or two, do not count.

A minute on two cores; the same file for the same seed on the same machine.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

TOKENS = 12
BATCH = 512
HELD_OUT = 20_000


def model(heads: int, layers: int, width: int, vocabulary: int, neurons: int) -> dict[str, Tensor]:
    """Weights by their names in the file; gated blocks if there are neurons."""
    tall, flat = (layers, heads, vocabulary, width), (layers, heads, width, vocabulary)
    shapes = {"W_Q": tall, "W_K": tall, "W_V": tall, "W_O": flat}
    if neurons:
        wide, down = (layers, vocabulary, neurons), (layers, neurons, vocabulary)
        shapes |= {"W_g": wide, "W_u": wide, "W_d": down}
    return {
        name: (torch.randn(shape) * 2 / shape[-2] ** 0.5).requires_grad_()
        for name, shape in shapes.items()
    }


def run(weights: dict[str, Tensor], inputs: Tensor) -> Tensor:
    """X^L of shape (batch, n, d_in); softmax attention over logits / sqrt(d), then SiLU gates."""
    stream, length = inputs, inputs.shape[1]
    later = torch.ones(length, length).triu(1).bool()
    for layer, queries in enumerate(weights["W_Q"]):
        total = torch.zeros_like(stream)
        for head, query in enumerate(queries):
            logits = stream @ query @ (stream @ weights["W_K"][layer, head]).transpose(1, 2)
            attention = (logits / query.shape[1] ** 0.5).masked_fill(later, -torch.inf).softmax(-1)
            total = total + attention @ stream @ weights["W_V"][layer, head] @ weights["W_O"][layer, head]
        stream = total
        if "W_g" in weights:
            gates = torch.nn.functional.silu(total @ weights["W_g"][layer])
            stream = gates * (total @ weights["W_u"][layer]) @ weights["W_d"][layer]
    return stream


def batch(vocabulary: int, count: int, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """One-hot inputs, the right token at every position, and where there is one."""
    skew = torch.rand(count, vocabulary, generator=generator)
    tokens = torch.multinomial(skew, TOKENS, replacement=True, generator=generator)
    inputs = torch.nn.functional.one_hot(tokens, vocabulary).float()
    counts = inputs.cumsum(1) * (1 - inputs)
    best = counts.topk(2, dim=-1).values
    return inputs, counts.argmax(-1), best[..., 0] > best[..., 1]


def main() -> int:
    """Train, print the accuracy on fresh inputs, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--gated", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--vocabulary", type=int, default=4)
    parser.add_argument("--heads", type=int, default=0)
    parser.add_argument("--neurons", type=int, default=2)
    parser.add_argument("--width", type=int, default=2)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    generator = torch.Generator().manual_seed(chosen.seed)
    vocabulary = chosen.vocabulary
    weights = model(chosen.heads or (1 if chosen.gated else 2), 2, chosen.width, vocabulary, chosen.neurons if chosen.gated else 0)
    optimiser = torch.optim.Adam(weights.values(), lr=0.02)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, chosen.steps)
    for step in range(chosen.steps):
        inputs, right, counts = batch(vocabulary, BATCH, generator)
        loss = torch.nn.functional.cross_entropy(run(weights, inputs)[counts], right[counts])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
        if step % 500 == 0: print(step, loss.item())
    with torch.no_grad():
        inputs, right, counts = batch(vocabulary, HELD_OUT, generator)
        found = run(weights, inputs).argmax(-1)
    accuracy = (found == right)[counts].double().mean().item()
    print(f"{chosen.file}: accuracy {accuracy:.4f} on {int(counts.sum())} positions")
    print({k:float(v.abs().max()) for k,v in weights.items()})
    stored = {name: weight.detach().contiguous() for name, weight in weights.items()}
    save_file(stored, chosen.file, {"logit_scale": "1/sqrt(d)", "mask": "causal", "activation": "silu"})
    return 0


if __name__ == "__main__":
    sys.exit(main())
