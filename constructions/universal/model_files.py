"""What an encoding leaves on disk: E in its dtype, and the universal model's parameters.

    embedding.safetensors    E [d_in, m]
    universal.safetensors    R_Q.l.h, R_K.l.h [m, d], R_V.l.h [m, m], U [m, d_in], and of gated
                             blocks R_g.l, R_u.l [m, q_l], R_d.l [q_l, m]; l and h count from 0

A sparse model's part is stored as the places of its ones, `NAME.rows` and `NAME.columns`, or on
request as a dense 0/1 matrix; a drawn one's as the very float32 numbers of the draw. Streams are
rows, so a part is applied from the right: X~ = X E, queries X~ R_Q, output X~ U.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from constructions.tensor_files import Tensor, file_bytes
from constructions.universal.definitions import FixedModel
from constructions.universal.draws import Block
from constructions.universal.encoding import Encoding
from constructions.universal.maps import ColumnMap, Ones
from constructions.universal.rounding import reals
from verify.errors import UsageError

DRAWN_DTYPE = "float32"
"""Draws are those of float32 initialisers."""
MOST_DENSE = 1 << 28
"""Entries of a model that is written densely."""


def embedding_file(encoding: Encoding) -> bytes:
    """The file of E, rounded to the encoding's dtype."""
    tensor = Tensor.of_reals(reals(encoding.rounded), encoding.dtype)
    return file_bytes({"E": tensor}, _metadata(encoding))


def model_file(encoding: Encoding, dense: bool) -> bytes:
    """The file of the universal model's parameters.

    Raises:
        UsageError: too many entries for a dense file.
    """
    drawn = encoding.solved.drawn
    if drawn is not None:
        model = drawn.model(cast("Any", _numbers))
        parts = {
            name: Tensor.of_reals(part.matrix, DRAWN_DTYPE) for name, part in named_parts(model)
        }
    elif dense:
        _require_few(encoding)
        parts = {
            name: Tensor.of_reals(_dense(part), encoding.dtype)
            for name, part in named_parts(encoding.solved.model)
        }
    else:
        parts = {
            f"{name}.{axis}": Tensor.of_places(places)
            for name, part in named_parts(encoding.solved.model)
            for axis, places in zip(("rows", "columns"), _places(part), strict=True)
        }
    return file_bytes(parts, _metadata(encoding))


def _metadata(encoding: Encoding) -> dict[str, str]:
    stored, drawn = encoding.stored, encoding.solved.drawn
    sizes = {name: str(value) for name, value in encoding.size.as_json().items()}
    draw = {} if drawn is None else {"seed": str(drawn.draw.seed)}
    return {
        "construction": encoding.construction.name,
        "m": str(encoding.width),
        "dtype": encoding.dtype,
        "target_sha256": stored.sha256,
        "logit_scale": stored.logit_scale,
        "activation": stored.activation,
        "mask": stored.mask,
        **sizes,
        **draw,
    }


def named_parts(model: FixedModel[Any, Any]) -> Iterator[tuple[str, Any]]:
    """Every fixed parameter by its name in the file."""
    for letter, grid in (("R_Q", model.queries), ("R_K", model.keys), ("R_V", model.values)):
        for layer, row in enumerate(grid):
            for head, part in enumerate(row):
                yield f"{letter}.{layer}.{head}", part
    for letter, parts in (("R_g", model.gates), ("R_u", model.ups), ("R_d", model.downs)):
        for layer, part in enumerate(parts):
            yield f"{letter}.{layer}", part
    yield "U", model.readout


def _numbers(block: Block) -> NDArray[np.float64]:
    return np.ldexp(block.wholes, block.exponent)


def _places(part: ColumnMap | Ones) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows and columns of the ones."""
    if isinstance(part, Ones):
        return part.rows, part.columns
    columns = np.flatnonzero(part.rows >= 0)
    return part.rows[columns], columns


def _dense(part: ColumnMap | Ones) -> NDArray[np.float64]:
    height = part.height if isinstance(part, Ones) else part.width
    entries = np.zeros((height, part.width))
    entries[_places(part)] = 1
    return entries


def _require_few(encoding: Encoding) -> None:
    parts = (part for _, part in named_parts(encoding.solved.model))
    count = sum(
        part.width * (part.height if isinstance(part, Ones) else part.width) for part in parts
    )
    if count > MOST_DENSE:
        raise UsageError(
            f"--dense: at most {MOST_DENSE} entries can be written, got {count}; leave it out, "
            "and the places of the ones are written"
        )
