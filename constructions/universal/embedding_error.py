"""How far the universal model's output is from the target's once E is rounded to a dtype.

    rounding of E    both models run over balls, with the rounded E as exact numbers: what the
                     rounding alone does to the output
    floating run     the a-priori bound of rounding errors of the universal model's run
    bound            their sum; a measured error of that run must stay within it

Source: Fixed Universal Transformers, Section 3.2, Finite precision.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from importlib.util import find_spec
from typing import Any

from constructions.universal.ball_runs import MASKS, Mask, converted, enclosed_target, softmax_of
from constructions.universal.definitions import forward
from constructions.universal.encoding import Encoding
from constructions.universal.error_bounds import Bounded
from constructions.universal.floats import FORMATS, Floats, Format, errors
from constructions.universal.gates import GATES
from constructions.universal.instances import seeded
from constructions.universal.rounded_runs import gaussian_matrix
from constructions.universal.rounding import nearest
from verify.balls import Balls
from verify.errors import PrecisionError
from verify.rational import Matrix

FIRST_BITS, MOST_BITS = 160, 5120
"""Working precisions of the balls, doubled from the first until radii are negligible."""
NEGLIGIBLE = Fraction(1, 1 << 20)
"""Radii below this part of a unit roundoff at the output's scale are."""
TINY = Fraction(1, 1 << 200)
"""Or below this, if the outputs are zero."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """Upper bounds of entries of |UTF(X, E) - T(X)|, the largest over some random inputs X.

    `rounding` is that of exact runs with the rounded E; `running` what the dtype's run adds at
    most, None if it might overflow (`reason`); `measured` is what that run did, infinite if it
    overflowed and None if PyTorch is not installed. `scale` is the largest |T(X)|.
    """

    inputs: int
    tokens: int
    bits: int
    scale: Fraction
    rounding: Fraction
    running: Fraction | None
    reason: str
    measured: Fraction | float | None

    @property
    def bound(self) -> Fraction | None:
        """What the measured error must not exceed."""
        return None if self.running is None else self.rounding + self.running

    @property
    def held(self) -> bool:
        """Whether the measured error is within the bound, as far as there are both."""
        return self.bound is None or self.measured is None or self.measured <= self.bound


def deviation(encoding: Encoding, inputs: int, tokens: int, seed: int) -> Deviation:
    """The largest errors over `inputs` random X of shape (tokens, d_in).

    Entries are Gaussian, rounded to k/64, and rows of length about 1, as embedded tokens have.

    Raises:
        PrecisionError: MOST_BITS do not enclose the outputs.
    """
    source = seeded(seed)
    width = encoding.size.token_width
    found = [
        _at(encoding, gaussian_matrix(source, tokens, width, width**-0.5)) for _ in range(inputs)
    ]
    return Deviation(
        inputs=inputs,
        tokens=tokens,
        bits=max(one.bits for one in found),
        scale=max(one.scale for one in found),
        rounding=max(one.rounding for one in found),
        running=_largest([one.running for one in found]),
        reason=next((one.reason for one in found if one.reason), ""),
        measured=_largest([one.measured for one in found]),
    )


def _largest(values: list[Any]) -> Any:
    """The largest, or None if one is missing."""
    return None if None in values else max(values)


def _at(encoding: Encoding, inputs: Matrix) -> Deviation:
    mask, format = MASKS[encoding.stored.mask](inputs.height), FORMATS[encoding.dtype]
    theirs, ours = _enclosed(encoding, inputs, mask, format)
    running, reason = None, ""
    try:
        running = _run_bound(encoding, inputs, mask, ours.bits).error.magnitude_upper()
    except PrecisionError as error:
        reason = str(error)
    return Deviation(
        inputs=1,
        tokens=inputs.height,
        bits=ours.bits,
        scale=theirs.magnitude_upper(),
        rounding=ours.distance_upper(theirs),
        running=running,
        reason=reason,
        measured=_measured(encoding, inputs, mask, theirs),
    )


# --- runs ------------------------------------------------------------------------------------


def _output(
    encoding: Encoding,
    inputs: Matrix,
    entries: Callable[[Matrix], Any],
    normalise: Callable[[Any], Any],
    activate: Callable[[Any], Any],
) -> Any:
    """UTF(X, E) with the rounded E over any numbers, computed as X E first."""
    model = converted(encoding.solved.model, entries)
    layers = (model.layer(index) for index in range(model.size.layers))
    stream = entries(inputs) @ entries(encoding.rounded)
    return forward(layers, stream, model.readout, normalise, activate).output


def _enclosed(
    encoding: Encoding, inputs: Matrix, mask: Mask, format: Format
) -> tuple[Balls, Balls]:
    """Enclosures of T(X) and UTF(X, E) that are as narrow as the error is small."""
    stored, bits = encoding.stored, FIRST_BITS
    normalise, gate = softmax_of(mask, stored.shrink), GATES[stored.activation]
    while bits <= MOST_BITS:
        theirs = enclosed_target(stored.target, inputs, bits, normalise, gate.enclosed)
        balls = _balls(bits)
        ours = _output(encoding, inputs, balls, normalise, gate.enclosed)
        allowed = max(NEGLIGIBLE * format.unit * theirs.magnitude_upper(), TINY)
        if max(theirs.radius_upper(), ours.radius_upper()) <= allowed:
            return theirs, ours
        bits *= 2
    raise PrecisionError(
        f"outputs must be enclosed within {MOST_BITS} bits, got wider balls; the weights are too "
        "large for softmax"
    )


def _balls(bits: int) -> Callable[[Matrix], Balls]:
    return lambda exact: Balls.of(exact, bits)


def _run_bound(encoding: Encoding, inputs: Matrix, mask: Mask, bits: int) -> Bounded:
    """The universal model's exact output, and the bound of what its run in the dtype adds."""
    format, stored = FORMATS[encoding.dtype], encoding.stored
    return _output(
        encoding,
        inputs,
        lambda exact: _stored(exact, format, bits),
        lambda logits: logits.softmax(mask, stored.shrink),
        GATES[stored.activation].bounded,
    )


def _stored(matrix: Matrix, format: Format, bits: int) -> Bounded:
    """Numbers that are rounded once, if the format does not hold them; none is near overflow."""
    lost = matrix.mapped(lambda x: abs((nearest(x, format) or Fraction(0)) - x))
    return Bounded(exact=Balls.of(matrix, bits), error=Balls.of(lost, bits), format=format)


def _measured(
    encoding: Encoding, inputs: Matrix, mask: Mask, theirs: Balls
) -> Fraction | float | None:
    """The error of the universal model's run in the dtype, its own enclosure's radius included."""
    if find_spec("torch") is None:
        return None
    format, stored = FORMATS[encoding.dtype], encoding.stored
    computed: Floats = _output(
        encoding,
        inputs,
        lambda exact: Floats.of(exact, format),
        lambda logits: logits.softmax(mask, stored.shrink),
        GATES[stored.activation].floats,
    )
    found = errors(computed, theirs)
    return math.inf if found is None else found.magnitude_upper()
