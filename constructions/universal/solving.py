"""Solving the probe equations E P_0 = C_0 for models whose P_0 is no selection.

Source: Fixed Universal Transformers, Section 3.2 and Appendix E.
"""

from __future__ import annotations

from typing import Any

from constructions.universal.definitions import FixedModel, Target
from constructions.universal.instances import DenseModel
from constructions.universal.probes import Blocks, coefficients, inverted, local_blocks, probe
from verify.modular import PRIMES, Residues
from verify.rational import Matrix


def independent_rows(matrix: Matrix) -> tuple[int, ...] | None:
    """Rows of a tall matrix that are independent, as many as it has columns; None if too few.

    Rows that are independent modulo a prime are independent; a matrix that lacks them modulo one
    prime is tried modulo others, and then decided exactly.
    """
    entries, _ = matrix.integers()
    for prime in PRIMES[:2]:
        rows = Residues.of(entries, prime).independent_rows()
        if len(rows) == matrix.width:
            return rows
    rows = matrix.independent_rows()
    return rows if len(rows) == matrix.width else None


def solve_probes(probes: Matrix, content: Matrix) -> Matrix | None:
    """E^T of shape (m, d_in) with P_0^T E^T = content, exactly; zero off independent rows of P_0.

    probes (m, s_0); content (s_0, d_in). None if P_0 has not full column rank.
    """
    rows = independent_rows(probes)
    if rows is None:
        return None
    square = probes.select_rows(rows).transposed
    place = {row: index for index, row in enumerate(rows)}
    return square.solve(content).select_rows([place.get(i, -1) for i in range(probes.height)])


def local_inverses(model: FixedModel[Any, Any]) -> Blocks | None:
    """B_j^{-1} by layer and neuron, or None if one is singular."""
    blocks = local_blocks(model)
    if any(block.rank() < block.height for layer in blocks for block in layer):
        return None
    return inverted(blocks)


def exact_embedding(model: DenseModel, target: Target) -> Matrix | None:
    """E^T of shape (m, d_in) that makes the model simulate the target.

    None if P_0 has not full column rank or some B_j is singular.
    """
    inverses = local_inverses(model)
    if inverses is None:
        return None
    return solve_probes(probe(model, 0).dense(), coefficients(target, 0, inverses))
