"""Shared-attention models as linear maps from one unknown per path, and what these maps lose.

    fixed readout        z_p in R^d_in    sum_p R_p U z_p    m equations     E S
    readout per target   z_p in R         sum_p z_p R_p        m^2 equations   E S U

Fewer equations than unknowns leave a combination z that is not 0 and that the model does not see.

Source: Fixed Universal Transformers, Section 4 and Theorem 4.1; the argument is ours.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from constructions.universal.instances import random_matrix, seeded
from lowerbounds.meeting_models import Meeting
from lowerbounds.shared_attention import weight_tensor
from verify.errors import SizeError
from verify.rational import Matrix

Column = tuple[Fraction, ...]
"""z_p, or one target's reading of a sum: d_in numbers."""
Weights = tuple[tuple[Fraction, ...], ...]
"""w^{l,h}, indexed [layer][head] from 0."""
Reading = Callable[[Matrix], Column]
"""What a target's embedding and readout make of a sum over paths."""

# --- models ----------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class PathModel:
    """The fixed parameters: values R^{l,h} (m, m), [layer][head], and readout U (m, d_in)."""

    values: tuple[tuple[Matrix, ...], ...]
    readout: Matrix

    @property
    def width(self) -> int:
        """The embedding dimension m."""
        return self.readout.height

    @cached_property
    def products(self) -> tuple[Matrix, ...]:
        """R_p for every path p, in lexical order."""
        found = [Matrix.identity(self.width)]
        for layer in self.values:
            found = [product @ value for product in found for value in layer]
        return tuple(found)


def random_path_model(
    heads: int, layers: int, token_width: int, width: int, seed: int
) -> PathModel:
    """Random rational parameters."""
    source = seeded(seed)
    return PathModel(
        values=tuple(
            tuple(random_matrix(source, width, width) for _ in range(heads)) for _ in range(layers)
        ),
        readout=random_matrix(source, width, token_width),
    )


def leaves(heads: int, layers: int, token_width: int, width: int) -> PathModel:
    """d_in coordinates per path, the first `width` of them; R^{l,h} keeps those with head h at l.

    With all H^L d_in coordinates R_p keeps the block of path p, which U reads.
    """
    paths = itertools.product(range(heads), repeat=layers)
    places = list(itertools.product(paths, range(token_width)))[:width]

    def mask(layer: int, head: int) -> Matrix:
        kept = [k if path[layer] == head else -1 for k, (path, _) in enumerate(places)]
        return Matrix.identity(width).select_columns(kept)

    return PathModel(
        values=tuple(tuple(mask(layer, head) for head in range(heads)) for layer in range(layers)),
        readout=Matrix.with_ones(width, token_width, range(width), [i for _, i in places]),
    )


def met_in_the_middle(heads: int, layers: int, token_width: int, width: int) -> PathModel:
    """The construction of least known width for a readout per target, its first coordinates.

    Raises:
        SizeError: the construction has fewer than `width` coordinates, or d_in is not 1.
    """
    whole = Meeting(heads=heads, layers=layers)
    if width > whole.width or token_width != 1:
        raise SizeError(
            f"the construction has {whole.width} coordinates and d_in = 1, got m = {width} and "
            f"d_in = {token_width}; choose sizes within"
        )
    first = range(width)
    return PathModel(
        values=tuple(
            tuple(value.select_rows(first).select_columns(first) for value in layer)
            for layer in whole.values
        ),
        readout=Matrix.zero(width, token_width),
    )


# --- the two kinds of readout ----------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Readout:
    """How a model's readout enters: what path p makes of z_p, and how a target reads the sum.

    per_target   whether each target has its own; otherwise U is the model's
    equations    their number, from m
    unknowns     their number, from H, L and d_in
    send         (R_p, U, z_p) to a summand: R_p U z_p (m, 1), or z_p R_p (m, m)
    construct    (H, L, d_in, m) to the first m coordinates of the best construction
    serve        (H, L, d_in) and a target's weights to its reading in the whole construction
    """

    per_target: bool
    equations: Callable[[int], int]
    unknowns: Callable[[int, int, int], int]
    send: Callable[[Matrix, Matrix, Column], Matrix]
    construct: Callable[[int, int, int, int], PathModel]
    serve: Callable[[int, int, int, Weights], Reading]

    def system(self, model: PathModel) -> Matrix:
        """The homogeneous system, (equations, unknowns): a column per path and entry of z_p."""
        units = Matrix.identity(model.readout.width).rows()
        return Matrix.beside(
            [
                flat(self.send(product, model.readout, unit))
                for product in model.products
                for unit in units
            ]
        )

    def sum(self, model: PathModel, combination: tuple[Column, ...]) -> Matrix:
        """The sum over all paths of what they send."""
        pairs = zip(model.products, combination, strict=True)
        first, *rest = [self.send(product, model.readout, part) for product, part in pairs]
        for other in rest:
            first += other
        return first


def flat(matrix: Matrix) -> Matrix:
    """The entries below each other, row by row."""
    entries = [entry for row in matrix.rows() for entry in row]
    return Matrix(len(entries), 1, entries)


def column(values: Column) -> Matrix:
    """The numbers as a column."""
    return Matrix(len(values), 1, values)


def _leaf_reading(heads: int, layers: int, token_width: int, weights: Weights) -> Reading:
    """E S for the leaves: E holds the product of the weights along p at the block of p."""
    blocks = [Matrix.identity(token_width).scaled(along) for along in weight_tensor(weights)]
    embedding = Matrix.beside(blocks)
    del heads, layers
    return lambda total: (embedding @ total).transposed.rows()[0]


def _middle_reading(heads: int, layers: int, token_width: int, weights: Weights) -> Reading:
    """E S U for an even number of layers, E and U holding the products of half a path each."""
    del token_width
    model = Meeting(heads=heads, layers=layers)
    one = (Fraction(1),)
    embedding, readout = model.embedding(weights, one), model.readout(weights, one)
    return lambda total: (embedding @ total @ readout).rows()[0]


FIXED = Readout(
    per_target=False,
    equations=lambda width: width,
    unknowns=lambda heads, layers, token_width: heads**layers * token_width,
    send=lambda product, readout, part: product @ (readout @ column(part)),
    construct=leaves,
    serve=_leaf_reading,
)
"""One readout U for all targets."""
FREE = Readout(
    per_target=True,
    equations=lambda width: width**2,
    unknowns=lambda heads, layers, token_width: heads**layers,
    send=lambda product, readout, part: product.scaled(part[0]),
    construct=met_in_the_middle,
    serve=_middle_reading,
)
"""A readout per target, d_in = 1."""

# --- combinations that vanish, and targets that see them --------------------------------------


def null_vector(system: Matrix) -> Column:
    """A vector that is not 0 and that the system sends to 0: one column by the independent ones.

    Raises:
        SizeError: the columns are independent, so there is none.
    """
    basis = system.transposed.independent_rows()
    spare = next((k for k in range(system.width) if k not in basis), None)
    if spare is None:
        raise SizeError(
            f"a system of shape {system.shape} must have dependent columns, got {len(basis)} "
            "independent ones; only more unknowns than equations are sure to have them"
        )
    found = [Fraction(0)] * system.width
    found[spare] = Fraction(1)
    if basis:
        whole = system.select_columns(basis)
        rows = whole.independent_rows()
        wanted = system.select_columns([spare]).select_rows(rows)
        shares = whole.select_rows(rows).solve(wanted).transposed.rows()[0]
        for place, share in zip(basis, shares, strict=True):
            found[place] = -share
    return tuple(found)


def by_path(vector: Column, token_width: int) -> tuple[Column, ...]:
    """A solution of the system as z_p for each path p."""
    places = range(0, len(vector), token_width)
    return tuple(vector[place : place + token_width] for place in places)


def grid_points(heads: int) -> Column:
    """H distinct numbers near 1, so that all weights x^h are near 1."""
    return tuple([1 + Fraction(k + 1, 8 * heads) for k in range(heads)])


def powers(numbers: Column, heads: int) -> Weights:
    """x^h for each number x and the heads h, from 0: rows of a Vandermonde matrix."""
    return tuple(tuple(x**head for head in range(heads)) for x in numbers)


def residue(combination: tuple[Column, ...], weights: Weights) -> Column:
    """sum_p z_p times the product of the weights along p: what the target would have to see."""
    along = Matrix.from_rows([weight_tensor(weights)])
    return (along @ Matrix.from_rows(combination)).rows()[0]
