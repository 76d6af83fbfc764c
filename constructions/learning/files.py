"""Files of training runs: the state to go on from, the trained model, and the saved run.

    state.safetensors   trained parameters and the optimizer's moments; metadata: plan, step, curve
    model.safetensors   trained parameters, the same metadata; fixed ones follow from plan and seed
    run.json            plan, curve, times and versions, from which tables and figures are drawn

Source: Fixed Universal Transformers, Appendix H.2.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from constructions.learning.definitions import shapes
from constructions.learning.evaluation import Score
from constructions.learning.training import Plan, Training
from constructions.optimisation import require_same_plan, require_state_file
from constructions.tensor_files import Tensor, TensorFile, file_bytes, read_file
from verify.errors import CertiformerError, CheckpointError, WeightsError

MODEL_FORMAT = "certiformer/learning/1"
STATE_FORMAT = "certiformer/learning-state/1"
RUN_SCHEMA = "certiformer/learning-run/1"
SINGLE = "F32"
_MALFORMED = (LookupError, TypeError, ValueError, AttributeError, RecursionError)
"""What reading JSON of another form may raise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedRun:
    """A run as tables and figures show it; seconds are those of the training itself."""

    plan: Plan
    history: tuple[Score, ...]
    seconds: float
    versions: Mapping[str, str]

    @property
    def last(self) -> Score:
        """Where the run stands."""
        return self.history[-1]

    @property
    def done(self) -> bool:
        """Whether all steps were taken."""
        return self.last.step >= self.plan.recipe.steps

    def as_json(self) -> dict[str, Any]:
        """The run as files keep it."""
        return {
            "schema": RUN_SCHEMA,
            "plan": self.plan.as_json(),
            "history": [list(asdict(point).values()) for point in self.history],
            "seconds": round(self.seconds, 1),
            "versions": dict(self.versions),
        }


def run_bytes(run: SavedRun) -> bytes:
    """The saved run's file, a line for each point of its curve."""
    rows = run.as_json()
    history = ",\n  ".join(json.dumps(row) for row in rows["history"])
    text = json.dumps({**rows, "history": None}, indent=1, sort_keys=True)
    return text.replace('"history": null', f'"history": [\n  {history}\n ]').encode("ascii") + b"\n"


def read_run(path: Path) -> SavedRun:
    """The saved run of a file.

    Raises:
        CheckpointError: no file of a run.
    """
    try:
        data = json.loads(path.read_bytes())
        if data["schema"] != RUN_SCHEMA:
            raise ValueError(f"schema {data['schema']!r}")
        return SavedRun(
            plan=Plan.of_json(data["plan"]),
            history=tuple(_score(row) for row in data["history"]),
            seconds=float(data["seconds"]),
            versions={str(name): str(value) for name, value in data["versions"].items()},
        )
    except (OSError, CertiformerError, *_MALFORMED) as error:
        raise CheckpointError(
            f"{path}: must be the run.json of a training run ({RUN_SCHEMA}), got one that cannot "
            f"be read ({error}); train anew or leave the file out"
        ) from error


def _score(row: Any) -> Score:
    step, loss, right, asked = row
    if not (0 <= right <= asked and asked > 0 and step >= 0):
        raise ValueError(f"an impossible score {row}")
    return Score(step=int(step), loss=float(loss), right=int(right), asked=int(asked))


def model_bytes(training: Training) -> bytes:
    """The trained parameters."""
    kept = {name: training.state()[name] for name in training.plan.model.trains}
    return _file(training, kept, MODEL_FORMAT, {})


def training_bytes(training: Training) -> bytes:
    """All that `restored_training` needs to go on exactly where the run stands."""
    return _file(training, training.state(), STATE_FORMAT, {"seconds": training.seconds})


def _file(
    training: Training, arrays: Mapping[str, Any], kind: str, more: Mapping[str, Any]
) -> bytes:
    tensors = {
        name: Tensor(code=SINGLE, shape=part.shape, data=part.astype("<f4").tobytes())
        for name, part in arrays.items()
    }
    about = {
        "plan": training.plan.as_json(),
        "step": training.step,
        "history": [list(asdict(point).values()) for point in training.history],
        **more,
    }
    return file_bytes(tensors, {"format": kind, "training": json.dumps(about)})


def restored_training(path: Path, plan: Plan) -> Training:
    """The run of a file, which must be of the same plan.

    Raises:
        WeightsError: no readable file.
        CheckpointError: a file of another kind or of another run.
    """
    file = read_file(path)
    require_state_file(file, STATE_FORMAT, path)
    try:
        kept, about = _plan(file)
        require_same_plan(plan, kept)
        history = [_score(row) for row in about["history"]]
        state = {name: _floats(tensor) for name, tensor in file.tensors.items()}
        return Training.restored(kept, int(about["step"]), history, state, float(about["seconds"]))
    except _MALFORMED as error:
        raise CheckpointError(f"{path}: {_altered(error)}") from error
    except CheckpointError as error:
        raise CheckpointError(f"{path}: {error}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """A trained model: its plan, and the parameters that were trained, as float32 arrays."""

    plan: Plan
    parameters: Mapping[str, Any]
    sha256: str


def read_model(path: Path) -> Trained:
    """The trained model of a file.

    Raises:
        WeightsError: no readable file of such a model.
    """
    file = read_file(path)
    if file.metadata.get("format") != MODEL_FORMAT:
        raise WeightsError(
            f"{path}: must be a model that `certiformer train dyck` or `hops` wrote, got format "
            f"{file.metadata.get('format')!r}; name its model.safetensors"
        )
    try:
        plan, _ = _plan(file)
    except (CertiformerError, *_MALFORMED) as error:
        raise WeightsError(f"{path}: {_altered(error)}") from error
    required = {name: shapes(plan.model)[name] for name in plan.model.trains}
    came = {name: tensor.shape for name, tensor in file.tensors.items()}
    if came != required:
        raise WeightsError(
            f"{path}: must hold tensors of the shapes {required}, got {came}; it was altered"
        )
    try:
        parameters = {name: _floats(tensor) for name, tensor in file.tensors.items()}
    except WeightsError as error:
        raise WeightsError(f"{path}: {error}") from error
    return Trained(plan=plan, parameters=parameters, sha256=file.sha256)


def _plan(file: TensorFile) -> tuple[Plan, Mapping[str, Any]]:
    about = json.loads(file.metadata["training"])
    return Plan.of_json(about["plan"]), about


def _altered(error: Exception) -> str:
    return (
        f"its metadata 'training' must hold plan, step, seconds and history, got {error!r}; it was "
        "altered or comes from another version"
    )


def _floats(tensor: Tensor) -> Any:
    if tensor.code != SINGLE:
        raise WeightsError(
            f"a trained model must hold float32 tensors ({SINGLE}), got {tensor.code}; it was "
            "altered"
        )
    return np.frombuffer(tensor.data, dtype="<f4").reshape(tensor.shape).copy()
