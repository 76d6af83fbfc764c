"""A compiled transformer in a file: safetensors, with its machine and sizes as metadata.

    metadata "config"   format, machine (its description), window, dtype, form, displayed, labels

The machine stands in the file, so that whoever reads it can run the tensors beside the machine.

Source: Sliding-Window Transformers Without Positional Encodings, Theorem 9.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from constructions.machines.descriptions import described_machine, description
from constructions.machines.parity import Stored
from constructions.machines.tensors import (
    DTYPES,
    FORMS,
    Source,
    WindowModel,
    compiled,
    require_window,
)
from constructions.machines.turing import Control
from constructions.machines.window import Pending, WindowLabel
from constructions.tensor_files import TensorFile, file_bytes, read_file
from verify.errors import UsageError, WeightsError
from verify.verdicts import Json

FORMAT = "certiformer/window-transformer/1"
SUFFIX = ".safetensors"


def model_bytes(model: WindowModel) -> bytes:
    """The file of a model; the same bytes for the same model."""
    config: dict[str, Json] = {
        "format": FORMAT,
        "machine": description(model.source.machine),
        "window": model.window,
        "dtype": model.dtype,
        "form": model.form,
        "displayed": list(model.source.displayed),
        "labels": [label_text(label) for label in model.source.graph.labels],
    }
    return file_bytes(model.tensors, {"config": json.dumps(config)})


def label_text(label: WindowLabel[Stored[Any]]) -> str:
    """A label in a line: N or P, the queue machine's state, the stored parity, what is owed."""
    stored = label.state
    state = stored.state
    if isinstance(state, Control):
        state = " ".join(part for part in (state.phase.value, state.state, state.held) if part)
    kept = "first" if stored.first else f"{stored.parity:b}"
    if isinstance(label, Pending):
        return f"P({state}, {kept}, {label.symbol})"
    return f"N({state}, {kept})"


def read_model(path: Path) -> WindowModel:
    """The model in a file.

    Raises:
        WeightsError: the file is none, or its tensors do not fit its machine.
        MachineFormatError: it describes no machine.
    """
    file = read_file(path)
    config = _config(path, file)
    source = Source(machine=described_machine(config["machine"], str(path)))
    labels = [label_text(label) for label in source.graph.labels]
    if (config["displayed"], config["labels"]) != (list(source.displayed), labels):
        raise WeightsError(
            f"{path}: displayed symbols and labels must be those of its machine, got others; "
            "compile the machine again"
        )
    model = WindowModel(
        source=source,
        window=config["window"],
        dtype=config["dtype"],
        form=config["form"],
        tensors=file.tensors,
    )
    _require_shapes(path, model)
    return model


def _config(path: Path, file: TensorFile) -> Mapping[str, Any]:
    config: Mapping[str, Any] = {}
    try:
        config = cast("Mapping[str, Any]", json.loads(file.metadata["config"]))
        known = (
            config["format"] == FORMAT
            and config["dtype"] in DTYPES
            and config["form"] in FORMS
            and type(config["window"]) is int
            and {"machine", "displayed", "labels"} <= config.keys()
        )
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError):
        known = False
    if not known:
        raise WeightsError(
            f"{path}: must be what `certiformer compile` writes, {FORMAT} with its config as "
            "metadata, got a file without it; compile the machine again"
        )
    try:
        require_window(config["window"], config["dtype"])
    except UsageError as error:
        raise WeightsError(f"{path}: {error}") from error
    return config


def _require_shapes(path: Path, model: WindowModel) -> None:
    """Require the tensors that the machine has: names, dtypes and shapes, not their entries.

    Raises:
        WeightsError: others.
    """
    required = compiled(model.source, model.window, model.dtype, model.form).tensors
    for name in sorted({*required, *model.tensors}):
        kinds = [
            f"{found.code} of shape {list(found.shape)}" if found else "none"
            for found in (required.get(name), model.tensors.get(name))
        ]
        if kinds[0] != kinds[1]:
            raise WeightsError(
                f"{path}: tensor {name!r} must be {kinds[0]}, got {kinds[1]}; compile the machine "
                "again"
            )
