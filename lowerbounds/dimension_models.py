"""Shared-attention models at one embedding and readout, with the Jacobians of both sides.

    responses    (E, U) -> (E R_p U)_p             Jacobian (H^L, 2 m)
    tensors      w -> (prod_l w^{l,p_l})_p         Jacobian (H^L, L H)

Scaling (E, U) to (s E, U / s) moves no response, so (E, -U) is in the kernel of the first.

Source: Fixed Universal Transformers, Section 4; the argument is ours.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction

from constructions.universal.instances import random_matrix, seeded
from lowerbounds.meeting_models import Weights, drawn_weights, require_sizes
from lowerbounds.shared_attention import weight_tensor
from verify.errors import SizeError
from verify.rational import Matrix

Path = tuple[int, ...]
"""A head for every layer, counted from 0."""
Values = tuple[tuple[Matrix, ...], ...]
"""R^{l,h}, indexed [layer][head] from 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What the argument states of scaling; each mutant replaces one.

    E goes with s and U with s^readout_power; of the 2 m coordinates `fixed` can be fixed by it.
    """

    readout_power: int = -1
    fixed: int = 1

    def parameters(self, width: int) -> int:
        """How many coordinates of (E, U) are left."""
        return 2 * width - self.fixed


RULES = Rules()


def paths_of(heads: int, layers: int) -> list[Path]:
    """[H]^L in lexical order."""
    return list(itertools.product(range(heads), repeat=layers))


def near_first(heads: int, layers: int) -> list[Path]:
    """The paths that differ from the one of first heads in at most one layer, that one first."""
    first = (0,) * layers
    others = itertools.product(range(layers), range(1, heads))
    return [first, *((*first[:place], head, *first[place + 1 :]) for place, head in others)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPoint:
    """Fixed parameters, one embedding and readout, and the weights of one target.

    values R^{l,h}: (m, m); embedding E: (1, m); readout U: (m, 1); weights: [layer][head]
    """

    values: Values
    embedding: Matrix
    readout: Matrix
    weights: Weights

    @property
    def paths(self) -> list[Path]:
        """[H]^L in lexical order."""
        return paths_of(len(self.values[0]), len(self.values))

    @property
    def width(self) -> int:
        """The embedding dimension m."""
        return self.embedding.width

    def product(self, path: Path) -> Matrix:
        """R_p = R^{1,p_1} ... R^{L,p_L}."""
        product = Matrix.identity(self.width)
        for layer, head in zip(self.values, path, strict=True):
            product = product @ layer[head]
        return product

    def response(self, path: Path) -> Fraction:
        """E R_p U."""
        return (self.embedding @ self.product(path) @ self.readout)[0, 0]

    def response_jacobian(self) -> Matrix:
        """Row p: the derivatives (R_p U)^T by E and E R_p by U, shape (H^L, 2 m)."""
        products = [self.product(path) for path in self.paths]
        rows = [
            Matrix.beside([(r @ self.readout).transposed, self.embedding @ r]) for r in products
        ]
        return Matrix.stack(rows)

    def tensor_jacobian(self) -> Matrix:
        """Row p, column (l, h): prod_{k != l} w^{k,p_k} where p_l = h, else 0."""
        columns: list[list[Fraction]] = []
        for layer, row in enumerate(self.weights):
            for head in range(len(row)):
                unit = tuple(Fraction(int(h == head)) for h in range(len(row)))
                rest = (*self.weights[:layer], unit, *self.weights[layer + 1 :])
                columns.append(weight_tensor(rest))
        return Matrix.from_rows(columns).transposed

    def scaling_direction(self, rules: Rules = RULES) -> Matrix:
        """How (E, U) moves as s leaves 1, shape (2 m, 1)."""
        moved = self.readout.scaled(rules.readout_power)
        return Matrix.stack([self.embedding.transposed, moved])


def drawn_values(heads: int, layers: int, width: int, seed: int) -> Values:
    """Rational R^{l,h}, the same for the same seed.

    Raises:
        SizeError: H, L or m is below 1 or no int.
    """
    require_sizes(heads, layers)
    if width < 1:
        raise SizeError(
            f"a shared-attention model needs m to be at least 1, got {width}; choose m >= 1"
        )
    source = seeded(seed)
    return tuple(
        tuple(random_matrix(source, width, width) for _ in range(heads)) for _ in range(layers)
    )


def drawn_point(heads: int, layers: int, width: int, seed: int) -> ModelPoint:
    """A model, an embedding and a readout without zeros, and weights without zeros.

    Raises:
        SizeError: H, L or m is below 1 or no int.
    """
    values = drawn_values(heads, layers, width, seed)
    embedding, readout = drawn_weights(width, 2, seed + 1)
    return ModelPoint(
        values=values,
        embedding=Matrix(1, width, embedding),
        readout=Matrix(width, 1, readout),
        weights=drawn_weights(heads, layers, seed),
    )
