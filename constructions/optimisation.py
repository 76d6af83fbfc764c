"""What all training here shares: random streams, one thread, and an optimizer's state as arrays.

Every batch has a random stream of its own, known by seed, purpose and step, so a run that goes on
from its state sees what an uninterrupted one would.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from constructions.tensor_files import TensorFile
from verify.errors import CheckpointError

MOMENTS = ("exp_avg", "exp_avg_sq")


def source(seed: int, purpose: str, step: int) -> np.random.Generator:
    """The random stream of one batch."""
    words = int.from_bytes(purpose.encode("ascii"), "little")
    return np.random.Generator(np.random.Philox(np.random.SeedSequence([seed, words, step])))


@contextmanager
def one_thread() -> Generator[None]:
    """Sums in one order, so that a run is the same however many cores there are."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def state_of(weights: Mapping[str, Any], optimizer: Any) -> dict[str, Any]:
    """Weights and the optimizer's moments, by name, as float32 arrays."""
    found = dict[str, Any]()
    for name, weight in weights.items():
        found[name] = weight.detach().cpu().numpy()
        for moment in MOMENTS:
            kept = optimizer.state.get(weight, {}).get(moment)
            if kept is not None:
                found[f"{moment}.{name}"] = kept.cpu().numpy()
    return found


class Described(Protocol):
    """A plan of a run, all that the run depends on."""

    def as_json(self) -> Mapping[str, Any]:
        """The plan as files keep it."""
        ...


def require_state_file(file: TensorFile, kind: str, path: Path) -> None:
    """Refuse a file that is no state of the kind of training.

    Raises:
        CheckpointError: another format.
    """
    if (came := file.metadata.get("format")) != kind:
        raise CheckpointError(
            f"{path}: must be the state of a training run ({kind}), got format {came!r}; choose "
            "another folder with --out"
        )


def require_same_plan(asked: Described, kept: Described) -> None:
    """Refuse the state of another run.

    Raises:
        CheckpointError: the plans differ.
    """
    if kept != asked:
        raise CheckpointError(
            f"it must be of the run {asked.as_json()}, got {kept.as_json()}; choose another "
            "folder with --out, or the same options"
        )


def require_state(
    shapes: Mapping[str, tuple[int, ...]], state: Mapping[str, Any], step: int
) -> None:
    """Refuse a state whose tensors are not those of a run after `step` steps.

    Raises:
        CheckpointError: a tensor too many, too few, or of another shape.
    """
    moments = [f"{moment}.{name}" for moment in MOMENTS for name in shapes]
    required = {*shapes, *(moments if step else ())}
    for name in sorted(required | state.keys()):
        shape = shapes.get(name.split(".")[-1])
        came = state[name].shape if name in state else "no such tensor"
        if name not in required or came != shape:
            raise CheckpointError(
                f"a training state must hold {name} of shape {shape}, got {came}; it belongs "
                "to another run, start anew in another folder"
            )


def restore_moments(
    weights: Mapping[str, Any], optimizer: Any, state: Mapping[str, Any], step: int
) -> None:
    """Give the optimizer the moments that a state holds."""
    import torch

    if not step:
        return
    for name, weight in weights.items():
        optimizer.state[weight] = {
            "step": torch.tensor(float(step)),
            **{
                moment: torch.tensor(state[f"{moment}.{name}"], device=weight.device)
                for moment in MOMENTS
            },
        }
