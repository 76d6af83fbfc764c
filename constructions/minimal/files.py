"""Checkpoints of minimal transformers: safetensors, and what `torch.save` wrote of a state_dict.

Beside the names of `definitions.shapes` the names common in small GPT teaching code are read, whose
linear layers hold a row for each output. PyTorch files are read with `weights_only`, so that no
code in them runs.

    metadata "training"   plan, step and curves of the run that made the checkpoint, if known

Source: Fully Interpretable Minimal Transformers, Table 1.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from constructions.minimal.definitions import Model, Reals
from constructions.minimal.training import Evaluation, Plan, Training
from constructions.optimisation import require_same_plan, require_state_file
from constructions.tensor_files import Tensor, TensorFile, file_bytes, read_file
from constructions.torch_files import begins_as_archive, read_torch_file
from verify.errors import CheckpointError, WeightsError

FORMAT = "certiformer/minimal/1"
TRAINING_FORMAT = "certiformer/minimal-training/1"
LARGEST_BYTES = 1 << 26
_GPT = {
    "token_embedding.weight": ("E", False),
    "token_embedding_table.weight": ("E", False),
    "position_embedding.weight": ("P", False),
    "position_embedding_table.weight": ("P", False),
    "sa_heads.heads.0.query.weight": ("W_Q", True),
    "sa_heads.heads.0.key.weight": ("W_K", True),
    "sa_heads.heads.0.value.weight": ("W_V", True),
    "ffwd.net.0.weight": ("W_1", True),
    "ffwd.net.0.bias": ("b_1", False),
    "ffwd.net.2.weight": ("W_2", True),
    "ffwd.net.2.bias": ("b_2", False),
    "lm_head.weight": ("U", True),
    "lm_head.bias": ("c", False),
}
"""Our name for each of theirs, and whether it is transposed."""
_MASK = "sa_heads.heads.0.tril"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A model with what is known of how it was trained, and the SHA-256 of the file."""

    model: Model
    plan: Plan | None
    history: tuple[Evaluation, ...]
    sha256: str


def read_checkpoint(path: Path) -> Checkpoint:
    """The model of a file.

    Raises:
        WeightsError: not a readable file of a minimal transformer, or one that holds code.
    """
    file = _torch_reals(path) if begins_as_archive(path) else read_file(path)
    return _checkpoint(file, path)


def _checkpoint(file: TensorFile, path: Path) -> Checkpoint:
    try:
        model = Model(tensors=_renamed({name: t.reals() for name, t in file.tensors.items()}))
        plan, history = _training(file.metadata)
    except (WeightsError, CheckpointError) as error:
        raise WeightsError(f"{path}: {error}") from error
    return Checkpoint(model=model, plan=plan, history=history, sha256=file.sha256)


def _torch_reals(path: Path) -> TensorFile:
    """The tensors that `torch.save` wrote, their causal mask left out."""
    file = read_torch_file(path, LARGEST_BYTES, "minimal transformer")
    kept = {name: part for name, part in file.tensors.items() if name != _MASK}
    for name, part in kept.items():
        if not part.floating:
            raise WeightsError(
                f"{path}: tensor {name} must hold floating-point numbers, got {part.dtype}; check "
                "which model the file is of"
            )
    return replace(file, tensors=kept, metadata={})


def _renamed(tensors: Mapping[str, Reals]) -> dict[str, Reals]:
    """The tensors by our names, each transposed to rows that are read."""
    found = dict[str, Reals]()
    for name, tensor in tensors.items():
        if name == _MASK:
            continue
        ours, transposed = _GPT.get(name, (name, False))
        if ours in found:
            raise WeightsError(
                f"tensor {ours} must be given once, got it again as {name}; leave one out"
            )
        found[ours] = tensor.T if transposed else tensor
    return found


def _training(metadata: Mapping[str, str]) -> tuple[Plan | None, tuple[Evaluation, ...]]:
    """What the metadata says of the run; nothing in files by other people."""
    if metadata.get("format") not in (FORMAT, TRAINING_FORMAT) or "training" not in metadata:
        return None, ()
    plan, _, history = _run(metadata)
    return plan, tuple(history)


def _run(metadata: Mapping[str, str]) -> tuple[Plan, int, list[Evaluation]]:
    try:
        data = json.loads(metadata["training"])
        history = [
            Evaluation(step=step, loss=loss, rule_error=error)
            for step, loss, error in data["history"]
        ]
        return Plan.of_json(data["plan"]), int(data["step"]), history
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(
            f"its metadata 'training' must hold plan, step and history, got {error!r}; it was "
            "altered or comes from another version"
        ) from error


def model_bytes(model: Model, training: Training | None = None) -> bytes:
    """The checkpoint's file: float32 where that holds every weight, else float64."""
    dtype = "float32" if _fits_float32(model) else "float64"
    tensors = {name: Tensor.of_reals(part, dtype) for name, part in model.tensors.items()}
    metadata = {"format": FORMAT}
    if training is not None:
        metadata["training"] = _training_text(training)
    return file_bytes(tensors, metadata)


def _fits_float32(model: Model) -> bool:
    with np.errstate(over="ignore"):
        return all(
            np.array_equal(part.astype(np.float32).astype(np.float64), part)
            for part in model.tensors.values()
        )


def _training_text(training: Training) -> str:
    history = [list(asdict(point).values()) for point in training.history]
    return json.dumps({"plan": training.plan.as_json(), "step": training.step, "history": history})


def training_bytes(training: Training) -> bytes:
    """All that `restored_training` needs to go on exactly where the run stands."""
    tensors = {
        name: Tensor.of_reals(part.astype(np.float64), "float32")
        for name, part in training.state().items()
    }
    return file_bytes(tensors, {"format": TRAINING_FORMAT, "training": _training_text(training)})


def restored_training(path: Path, plan: Plan) -> Training:
    """The run of a file, which must be of the same plan.

    Raises:
        WeightsError: no readable file.
        CheckpointError: a file of another kind or of another run.
    """
    file = read_file(path)
    require_state_file(file, TRAINING_FORMAT, path)
    try:
        kept, step, history = _run(file.metadata)
        require_same_plan(plan, kept)
        state = {name: t.reals().astype(np.float32) for name, t in file.tensors.items()}
        return Training.restored(kept, step, history, state)
    except CheckpointError as error:
        raise CheckpointError(f"{path}: {error}") from error
