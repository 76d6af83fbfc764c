"""What deciding a minimal transformer costs, beside a plain torch loop over batches of windows.

    python tests/benchmarks/minimal.py

All three sides decide the same windows of the same checkpoint, from the file on: counting in
float64 with a proved bound, covering by sets with exact checks, and torch's forward pass in
float64, batch by batch, which proves nothing. They must come to the same counts.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parent))
from run import best, peak_megabytes, say

from constructions.minimal import cover, decision
from constructions.minimal.definitions import PLUS, VOCABULARY, Model, window_count
from constructions.minimal.files import read_checkpoint
from constructions.minimal.shipped import FOLDER, NAMES
from constructions.minimal.task import NONE, last_evens
from constructions.minimal.torch_model import logits, weights_of

BATCH = 1 << 16
LONG, COMPARED = 8, 7


def model(name: str) -> Model:
    """The shipped checkpoint, read anew."""
    return read_checkpoint(FOLDER / f"{name}.safetensors").model


def counted(name: str, length: int) -> int:
    """Right windows, one by one."""
    decision.counted.cache_clear()
    return decision.counted(model(name), length).right


def covered(name: str, length: int) -> int:
    """Right windows by sets, made and checked."""
    read = model(name)
    found = cover.cover(read, length)
    if trouble := cover.check(read, found):
        raise SystemExit(trouble)
    return decision.covered(length, found).right


def batched(name: str, length: int) -> int:
    """The peer: right windows by torch."""
    weights, right = weights_of(model(name)), 0
    powers = VOCABULARY ** np.arange(length - 2, -1, -1)
    for start in range(0, VOCABULARY ** (length - 1), BATCH):
        numbers = np.arange(start, min(start + BATCH, VOCABULARY ** (length - 1)))
        tokens = np.full((len(numbers), length), PLUS)
        tokens[:, :-1] = numbers[:, None] // powers % VOCABULARY
        wanted = last_evens(tokens)[:, -1]
        tokens, wanted = tokens[wanted != NONE], wanted[wanted != NONE]
        with torch.no_grad():
            rows = logits(weights, torch.as_tensor(tokens))[:, -1].numpy()
        own = np.take_along_axis(rows, wanted[:, None], axis=1)
        np.put_along_axis(rows, wanted[:, None], -np.inf, axis=1)
        right += int((own[:, 0] > rows.max(axis=1)).sum())
    return right


def main() -> None:
    """A line for each checkpoint and length."""
    say("windows of a minimal transformer: counting and covering against torch in batches")
    for name in NAMES:
        counts = {side(name, COMPARED) for side in (counted, covered, batched)}
        if len(counts) > 1:
            raise SystemExit(f"{name}: right windows differ: {counts}")
        plain = best(lambda name=name: batched(name, COMPARED), 1)
        one = best(lambda name=name: counted(name, COMPARED), 3)
        two = best(lambda name=name: covered(name, COMPARED), 3)
        say(
            f"  {name}, length {COMPARED}, {window_count(COMPARED):,} windows: torch {plain:.2f} "
            f"s, counting {plain / one:.0f} times faster, covering {plain / two:.0f} times"
        )
        long = best(lambda name=name: counted(name, LONG), 1)
        sets = best(lambda name=name: covered(name, LONG), 1)
        say(
            f"  {name}, length {LONG}, {window_count(LONG):,} windows: counting {long:.2f} s, "
            f"covering {sets:.2f} s; peak memory so far {peak_megabytes():.0f} MB"
        )


if __name__ == "__main__":
    main()
