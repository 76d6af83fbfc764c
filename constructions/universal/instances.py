"""Small instances of the sparse constructions, and exact random targets."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from constructions.universal.definitions import (
    FixedModel,
    Target,
    TransformerSize,
    Universal,
    most_ones,
    places_json,
)
from constructions.universal.layouts import Layout
from constructions.universal.maps import ColumnMap, Dense, Indices, Ones
from constructions.universal.probes import coefficients, local_blocks, probe
from verify.claims import Profile
from verify.counterexamples import Counterexample
from verify.errors import SizeError
from verify.ranges import Range
from verify.rational import Matrix
from verify.verdicts import Json

DenseModel = FixedModel[Dense[Matrix], Dense[Matrix]]

Kind = tuple[int, bool]
"""A kind of block: neurons r of its MLP (0: none), and whether streams are carried on."""

DENSE_LIMIT = 110
"""Largest m at which the fixed matrices are also multiplied as dense exact matrices."""


def seeded(seed: int) -> random.Random:
    """Numbers that are the same for the same seed."""
    return random.Random(seed)  # noqa: S311 - instances are to be repeatable, nothing is secret


def random_matrix(source: random.Random, height: int, width: int) -> Matrix:
    """Entries p/q with |p| <= 3 and q <= 3."""
    return Matrix(
        height,
        width,
        [Fraction(source.randint(-3, 3), source.randint(1, 3)) for _ in range(height * width)],
    )


def random_target(size: TransformerSize, seed: int) -> Target:
    """A target with small rational weights, the same for the same seed."""
    source = seeded(seed)
    return target_of(size, lambda height, width: random_matrix(source, height, width))


def target_of(size: TransformerSize, take: Callable[[int, int], Matrix]) -> Target:
    """A target of matrices that `take` makes of their heights and widths, field by field."""

    def grid(height: int, width: int) -> tuple[tuple[Matrix, ...], ...]:
        return tuple(
            tuple(take(height, width) for _ in range(size.heads)) for _ in range(size.layers)
        )

    def row(height: int, width: int) -> tuple[Matrix, ...]:
        return tuple(take(height, width) for _ in range(size.layers if size.gated else 0))

    tall, wide = (size.token_width, size.head_width), (size.head_width, size.token_width)
    return Target(
        size=size,
        queries=grid(*tall),
        keys=grid(*tall),
        values=grid(*tall),
        outputs=grid(*wide),
        gates=row(size.token_width, size.neurons),
        ups=row(size.token_width, size.neurons),
        downs=row(size.neurons, size.token_width),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedCase:
    """A size and an embedding dimension at which fixed parameters are checked."""

    size: TransformerSize
    width: int

    def as_json(self) -> dict[str, Json]:
        """The case as certificates and counterexamples name it."""
        return {"size": self.size.as_json(), "width": self.width}


def sizes(
    heads: int, layers: int, head_width: int, token_width: int, *, single: bool
) -> Iterator[TransformerSize]:
    """All sizes up to the given ones; H from 2 on unless single heads are meant."""
    for chosen in itertools.product(
        (1,) if single else range(1, heads + 1),
        range(1, layers + 1),
        range(1, head_width + 1),
        range(1, token_width + 1),
    ):
        yield TransformerSize(
            heads=chosen[0], layers=chosen[1], head_width=chosen[2], token_width=chosen[3]
        )


_LIMITS: dict[Profile, tuple[int, int, int, int]] = {
    "quick": (2, 2, 2, 2),
    "standard": (3, 3, 2, 2),
    "deep": (3, 4, 3, 3),
}


def fixed_ranges(layout: Layout) -> dict[Profile, Range]:
    """Every size up to a profile's limits, at the least m and with two coordinates to spare."""
    return {profile: _fixed_range(layout, limits) for profile, limits in _LIMITS.items()}


def block_ranges(
    layout: Layout, kinds: Sequence[Kind], quick: tuple[int, int] = (2, 1)
) -> dict[Profile, Range]:
    """Small sizes of the given kinds of blocks, at the least m and with two to spare.

    `quick` holds the quick profile's largest H and L.
    """
    return {
        "quick": _block_range(layout, kinds, quick),
        "standard": _block_range(layout, kinds, (2, 2)),
        "deep": _block_range(layout, kinds, (3, 2)),
    }


def _block_range(layout: Layout, kinds: Sequence[Kind], most: tuple[int, int]) -> Range:
    heads, layers = most

    def over() -> Iterator[FixedCase]:
        for neurons, residual in kinds:
            for plain in sizes(heads, layers, 2, 2, single=False):
                size = replace(plain, neurons=neurons, residual=residual)
                for spare in (0, 2):
                    yield FixedCase(size=size, width=layout.least_width(size) + spare)

    return Range(
        bound=f"H <= {heads}, L <= {layers}, d, d_in <= 2, m the least and two more; "
        f"blocks: {block_names(kinds)}",
        over=over,
    )


def block_names(kinds: Sequence[Kind]) -> str:
    """Kinds of blocks in words."""

    def name(kind: Kind) -> str:
        neurons, residual = kind
        what = f"gated with {neurons} neurons" if neurons else "attention only"
        return f"{what}, residual" if residual else what

    return "; ".join(name(kind) for kind in kinds)


def _fixed_range(layout: Layout, limits: tuple[int, int, int, int]) -> Range:
    def over() -> Iterator[FixedCase]:
        for size in sizes(*limits, single=layout.single_head):
            if layout.wide_heads and size.head_width < size.token_width:
                continue
            for spare in (0, 2):
                yield FixedCase(size=size, width=layout.least_width(size) + spare)

    heads = "H = 1" if layout.single_head else f"H <= {limits[0]}"
    tokens = f"d_in <= {limits[3]}" + (", d_in <= d" if layout.wide_heads else "")
    return Range(
        bound=f"{heads}, L <= {limits[1]}, d <= {limits[2]}, {tokens}, m the least and two more",
        over=over,
    )


def selection_fails(layout: Layout) -> Callable[[FixedCase], Counterexample | None]:
    """The obligation that a layout's parameters meet the probe equations at a size.

    P_0, composed of index maps, selects the coordinate of each column's label; up to
    DENSE_LIMIT the same holds of the matrices multiplied as matrices; every parameter is 0/1
    with at most m ones; E P_0 = C_0 for a random exact target.
    """

    def holds(case: FixedCase) -> Counterexample | None:
        try:
            model = layout.build(case.size, case.width)
        except SizeError as error:
            return _fails(case, f"the construction must fit its own width; {error}")
        expected = layout.order(case.size, case.width)
        probes = probe(model, 0)
        found = first_rows(probes)
        if not np.array_equal(found, expected):
            column = int(np.flatnonzero(found != expected)[0])
            return _fails(
                case,
                f"column {column} of P_0 must select coordinate {expected[column]}, "
                f"it selects {found[column]} (-1: none or several)",
            )
        if not layout.wide_heads and probes.selection() is None:
            return _fails(case, "P_0 must select distinct coordinates, one per column; it does not")
        if case.width <= DENSE_LIMIT and probe(as_dense(model), 0).dense() != probes.dense():
            return _fails(case, "the dense matrices must multiply to P_0; they do not")
        if most_ones(model) > case.width:
            return _fails(case, f"parameters need at most m ones, got {most_ones(model)}")
        if layout.blocks and (wrong := miscounted(model)) is not None:
            return _fails(case, wrong)
        if layout.tied and not model.tied:
            return _fails(case, "all layers must share their parameters; they do not")
        for blocks in local_blocks(model):
            if any(block != Matrix.identity(block.height) for block in blocks):
                return _fails(case, "every B_j = R_d[I_j, :] P_l must be the identity; one is not")
        target = random_target(case.size, seed=case.width)
        written = layout.write(target, case.width).select_rows(expected.tolist())
        if written != coefficients(layout.factored(target), 0):
            return _fails(case, "E P_0 must equal C_0 for the target of seed m; it does not")
        return None

    return holds


def miscounted(model: Universal) -> str | None:
    """A parameter whose ones are not as many as Appendix E states, or None.

    d in a query or key map, q_l in a gate, up or down map, the width of Q_l in a value map (2 q_l,
    or s_l + 2 q_l with residual), d_in in the readout.
    """
    size = model.size
    for index in range(size.layers):
        layer = model.layer(index)
        stated = [
            ("R_Q", layer.queries, size.head_width),
            ("R_K", layer.keys, size.head_width),
            ("R_V", layer.values, size.inner_width(size.probe_widths[index + 1])),
            ("R_g, R_u, R_d", layer.gated or (), size.hidden_width(index)),
            ("U", (model.readout,), size.token_width),
        ]
        for name, parts, count in stated:
            for part in parts:
                if part.ones != count:
                    return f"{name} must have {count} ones in layer {index + 1}, got {part.ones}"
    return None


def first_rows(part: Ones) -> Indices:
    """The row of each column's 1, or -1 where a column has none or several; shape (width,)."""
    count = np.bincount(part.columns, minlength=part.width)
    rows = np.full(part.width, -1, dtype=np.int64)
    rows[part.columns] = part.rows
    return np.where(count == 1, rows, -1)


def _fails(case: FixedCase, text: str) -> Counterexample:
    return Counterexample(text=f"{text} (sizes {case.as_json()})", instance=case.as_json())


def as_dense(model: Universal) -> DenseModel:
    """The model with every fixed parameter as an exact dense matrix."""

    def grid(layers: tuple[tuple[ColumnMap | Ones, ...], ...]) -> Any:
        return tuple(tuple(Dense(matrix=part.dense()) for part in layer) for layer in layers)

    def row(parts: tuple[Ones, ...]) -> tuple[Dense[Matrix], ...]:
        return tuple(Dense(matrix=part.dense()) for part in parts)

    return FixedModel(
        size=model.size,
        width=model.width,
        queries=grid(model.queries),
        keys=grid(model.keys),
        values=grid(model.values),
        readout=Dense(matrix=model.readout.dense()),
        gates=row(model.gates),
        ups=row(model.ups),
        downs=row(model.downs),
    )


def fixed_exhibit(layout: Layout) -> Callable[[FixedCase], Json]:
    """What a certificate shows of a case: the places of all ones."""
    return lambda case: places_json(layout.build(case.size, case.width))
