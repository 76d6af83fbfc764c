"""The probe equations of a draw solved in floating point, with iterative refinement.

P_0 is factored once, in float32 at least. A step adds to E^T what the factors make of the exact
residual C_0^T - P_0^T E^T, and rounds the sum to the format; steps end when E stays as it is, or
when a step is not at most half of the one before.

Source: Fixed Universal Transformers, Section 3.2, Finite precision; the method is N. J. Higham,
Accuracy and Stability of Numerical Algorithms, 2nd edition, chapter 12.
"""

from __future__ import annotations

from fractions import Fraction
from importlib import import_module
from typing import Any

from constructions.universal.floats import FORMATS, Floats, Format
from verify.errors import PrecisionError
from verify.rational import Matrix

MOST_STEPS = 20
"""Refinement of a matrix that can be factored at all ends far earlier."""


def refined_embedding(probes: Matrix, content: Matrix, format: Format) -> tuple[Matrix, int]:
    """E^T with numbers of the format such that P_0^T E^T is near C_0^T; how often it was refined.

        probes  P_0, (m, m)       content  C_0^T, (m, d_in)       result  (m, d_in)

    Raises:
        PrecisionError: the factors or the result are not finite in the format.
    """
    torch: Any = import_module("torch")
    inner = FORMATS["float64" if format.stored == "float64" else "float32"]
    square = probes.transposed
    factors, pivots, _ = torch.linalg.lu_factor_ex(Floats.of(square, inner).tensor)
    best, before = Matrix.zero(*content.shape), None
    for step in range(MOST_STEPS):
        residual = Floats.of(content - square @ best, inner).tensor
        change = _finite(Floats(tensor=torch.linalg.lu_solve(factors, pivots, residual)), format)
        refined = _finite(Floats.of(best + change, format), format)
        if refined == best or (before is not None and 2 * _largest(change) > before):
            return best, step - 1
        best, before = refined, _largest(change)
    return best, MOST_STEPS - 1


def _finite(computed: Floats, format: Format) -> Matrix:
    exact = computed.exact()
    if exact is None:
        raise PrecisionError(
            f"E must be finite in {format.name}, got an entry that is not; P_0 is singular to "
            "working precision, so choose a wider format or another draw"
        )
    return exact


def _largest(matrix: Matrix) -> Fraction:
    return max((abs(x) for row in matrix.rows() for x in row), default=Fraction(0))
