"""Shared-attention models with d_in = 1, and how their weight tensors factor.

Source: Fixed Universal Transformers, Section 4.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from constructions.universal.instances import seeded
from verify.errors import SizeError
from verify.rational import Matrix


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedAttention:
    """A shared-attention model with d_in = 1 for H^L targets.

    products R_p: (m, m); embeddings E_q: (1, m); readouts U_q: (m, 1); tensors T: (targets, paths)
    """

    heads: int
    layers: int
    products: tuple[Matrix, ...]
    embeddings: tuple[Matrix, ...]
    readouts: tuple[Matrix, ...]
    tensors: Matrix

    @property
    def width(self) -> int:
        """The embedding dimension m."""
        return self.products[0].height

    def responses(self) -> Matrix:
        """[E_q R_p U_q]_{q,p}."""
        return Matrix.from_rows(
            [
                [(e @ r @ u)[0, 0] for r in self.products]
                for e, u in zip(self.embeddings, self.readouts, strict=True)
            ]
        )


def weight_tensor(weights: tuple[tuple[Fraction, ...], ...]) -> list[Fraction]:
    """prod_l w^{l,p_l} for every path p, in lexical order."""
    products = [Fraction(1)]
    for layer in weights:
        products = [value * weight for value in products for weight in layer]
    return products


def leaves_only(heads: int, layers: int, seed: int) -> SharedAttention:
    """The tree's leaves alone, m = H^L: R_p = e_p e_p^T, U = all ones, E_q holds the tensor of q.

    Seed 0 takes the unit weights w^l = e_{q_l}; other seeds random ones.

    Raises:
        SizeError: a size below 1.
    """
    if heads < 1 or layers < 1:
        raise SizeError(f"H and L must be at least 1, got H = {heads}, L = {layers}")
    source, paths = seeded(seed), heads**layers
    unit = Matrix.identity(paths)
    rows: list[list[Fraction]] = []
    for q in itertools.product(range(heads), repeat=layers):
        weights = tuple(
            tuple(
                Fraction(int(h == q[layer])) if seed == 0 else Fraction(source.randint(-3, 3), 2)
                for h in range(heads)
            )
            for layer in range(layers)
        )
        rows.append(weight_tensor(weights))
    column = Matrix(paths, 1, [1] * paths)
    return SharedAttention(
        heads=heads,
        layers=layers,
        products=tuple(
            unit.select_columns([p if j == p else -1 for j in range(paths)]) for p in range(paths)
        ),
        embeddings=tuple(Matrix(1, paths, row) for row in rows),
        readouts=(column,) * paths,
        tensors=Matrix.from_rows(rows),
    )


def fixed_factors(model: SharedAttention) -> tuple[Matrix, Matrix]:
    """[E_q]_q of shape (targets, m) and [R_p U]_p of shape (m, paths)."""
    left = Matrix.stack(list(model.embeddings))
    right = Matrix.beside([r @ model.readouts[0] for r in model.products])
    return left, right


def free_factors(model: SharedAttention) -> tuple[Matrix, Matrix]:
    """[E_q (x) U_q]_q of shape (targets, m^2) and [vec R_p]_p of shape (m^2, paths)."""
    m = model.width
    left = Matrix.from_rows(
        [
            [e[0, i] * u[j, 0] for i in range(m) for j in range(m)]
            for e, u in zip(model.embeddings, model.readouts, strict=True)
        ]
    )
    columns = [Matrix(m * m, 1, [x for row in r.rows() for x in row]) for r in model.products]
    return left, Matrix.beside(columns)


Factors = Callable[[SharedAttention], tuple[Matrix, Matrix]]
Case = tuple[int, int, int]
