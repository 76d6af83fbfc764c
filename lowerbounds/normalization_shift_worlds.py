"""The meaning of the shift argument's theory: a fixed model of width 5 beside a target of width 2.

Source: Fixed Universal Transformers, Section 3.3; the argument is ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from lowerbounds.layer_norm import ALONE, LayerNorm, PostNorm, Row, exact_root
from lowerbounds.post_norm_models import reversing_model
from verify.rational import Matrix
from verify.smtlib import Symbol, World

_EPS = Fraction(9, 16)
"""With it the rows below have rational divisors: their variances are 0, 1 and 81/25."""
_WIDTH = 5


def shift_worlds(scale: Fraction, beyond: Fraction) -> Iterator[World]:
    """A fixed model of width 5 that reverses its stream, beside a target of width 2."""
    column = [Fraction(2 * c - 3, 2) for c in range(_WIDTH)]
    norm = LayerNorm(
        scale=tuple([Fraction(c - 1, 2) for c in range(_WIDTH)]),
        shift=tuple([Fraction(1 - c, 3) for c in range(_WIDTH)]),
        eps=_EPS,
    )
    model = reversing_model(norm, Matrix(_WIDTH, 1, column))
    alone, zeros = Fraction(9, 2), (Fraction(0),) * (_WIDTH - 1)
    rows = [(alone, *zeros), (Fraction(0), *zeros), (*zeros, -alone)]
    weights = zip(column, norm.scale, norm.shift, strict=True)
    limits = tuple([abs(u * g) * _WIDTH + abs(u * b) for u, g, b in weights])
    shifted = LayerNorm(
        scale=(scale,) * 2, shift=(sum(limits, Fraction(0)) + beyond, Fraction(0)), eps=_EPS
    )
    yield World(
        sorts={
            "Row": rows,
            "Input": [Matrix(1, 2, [1, -1]), Matrix(1, 2, [-1, -1]), Matrix(1, 2, [0, 2])],
            "Embedding": [Matrix.from_rows([row, rows[1]]) for row in rows],
        },
        integers=range(-1, _WIDTH + 1),
        symbols={
            **_row_symbols(norm),
            **_output_symbols(model, limits),
            **_target_symbols(reversing_model(shifted, Matrix.identity(2))),
        },
        free={"r": rows, "j": range(_WIDTH), "k": range(_WIDTH)},
    )


def _at(row: Sequence[Fraction], place: int) -> Fraction:
    return row[place] if 0 <= place < len(row) else Fraction(0)


def _first(row: Sequence[Fraction], count: int) -> Fraction:
    return sum(row[: max(count, 0)], Fraction(0))


def _row_symbols(norm: LayerNorm) -> dict[str, Symbol]:
    return {
        "m": norm.width,
        "eps": norm.eps,
        "dev": lambda s, c: _at(norm.deviations(s), c),
        "squares": lambda s, c: _first([y * y for y in norm.deviations(s)], c),
        "root": lambda s: exact_root(norm.divided_by(s)),
        "hat": lambda s, c: _at(norm.normalised(s), c),
    }


def _output_symbols(model: PostNorm, limits: Row) -> dict[str, Symbol]:
    norm = model.norms[-1]
    (column,) = model.readout.transposed.rows()

    def terms(row: Row) -> Row:
        (normed,) = norm.of(Matrix.from_rows([row])).rows()
        return tuple([u * value for u, value in zip(column, normed, strict=True)])

    return {
        "U": lambda c: _at(column, c),
        "scale": lambda c: _at(norm.scale, c),
        "shift": lambda c: _at(norm.shift, c),
        "term": lambda s, c: _at(terms(s), c),
        "limit": lambda c: _at(limits, c),
        "out": lambda s, c: _first(terms(s), c),
        "bound": lambda c: _first(limits, c),
        "last": lambda x, e: model.sublayer(0, x @ e, ALONE).rows()[0],
        "response": lambda x, e: model.output(x @ e, ALONE)[0, 0],
    }


def _target_symbols(target: PostNorm) -> dict[str, Symbol]:
    norm = target.norms[-1]
    return {
        "gamma": norm.scale[0],
        "beta": norm.shift[0],
        "normed": lambda x: norm.normalised(target.sublayer(0, x, ALONE).rows()[0])[0],
        "target": lambda x: target.output(x, ALONE)[0, 0],
    }
