"""Post-LayerNorm transformers on exact rationals, and enclosures of their square roots.

    layer   S^l = [X^{l-1} +] sum_h A^{l,h} X^{l-1} M^{l,h},  X^l = LN^l(S^l),  output X^L U
    LN      y_j / root gamma_j + beta_j,  y_j = x_j - mean,  root^2 = mean of y_j^2 + eps

Targets and fixed models are both of this kind: a target has U = I and runs on X, a fixed model on
X E. A run is exact where every root is rational; bounds are compared through enclosures.

Source: Fixed Universal Transformers, Section 3.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from constructions.universal.definitions import Normaliser, Target, Universal
from constructions.universal.nonlinearities import full_mask, square_attention
from verify.errors import InexactError, ShapeError, SizeError
from verify.rational import Matrix
from verify.verdicts import Json

Row = tuple[Fraction, ...]
"""One token's stream, from the first coordinate on."""

ALONE: Normaliser = square_attention(full_mask(1))
"""Attention of one token: weight 1, as softmax has it."""
PAIR: Normaliser = square_attention(full_mask(2))
"""Attention of two tokens: positive rows of sum 1, as softmax has it."""
ROOT_BITS = 64
"""An enclosure of a square root is 2^-64 wide."""


def root_bounds(value: Fraction) -> tuple[Fraction, Fraction]:
    """Lower and upper bound of the square root; equal where the root is rational."""
    below, above = isqrt(value.numerator), isqrt(value.denominator)
    if below**2 == value.numerator and above**2 == value.denominator:
        return Fraction(below, above), Fraction(below, above)
    whole = isqrt((value.numerator << (2 * ROOT_BITS)) // value.denominator)
    return Fraction(whole, 1 << ROOT_BITS), Fraction(whole + 1, 1 << ROOT_BITS)


def exact_root(value: Fraction) -> Fraction:
    """The square root of a rational square.

    Raises:
        InexactError: the root is irrational.
    """
    below, above = root_bounds(value)
    if below != above:
        raise InexactError(
            f"LayerNorm needs the variance plus eps to be a rational square, got {value}; "
            "choose another eps, or compare squares"
        )
    return below


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerNorm:
    """Scale gamma, shift beta (one entry per coordinate) and eps > 0 of one normalisation."""

    scale: Row
    shift: Row
    eps: Fraction

    def __post_init__(self) -> None:
        """Refuse eps that is not positive, and vectors of different or no length."""
        if self.eps <= 0:
            raise SizeError(f"LayerNorm.eps must be positive, got {self.eps}")
        if len(self.scale) != len(self.shift) or not self.scale:
            raise ShapeError(
                "LayerNorm.scale and LayerNorm.shift must have one entry per coordinate, got "
                f"{len(self.scale)} and {len(self.shift)}"
            )

    @property
    def width(self) -> int:
        """Coordinates of a row."""
        return len(self.scale)

    def deviations(self, row: Row) -> Row:
        """y_j = x_j - mean."""
        mean = sum(row, Fraction(0)) / self.width
        return tuple(x - mean for x in row)

    def divided_by(self, row: Row) -> Fraction:
        """The square of the divisor: the variance plus eps."""
        return sum((y * y for y in self.deviations(row)), Fraction(0)) / self.width + self.eps

    def normalised(self, row: Row) -> Row:
        """y_j / root.

        Raises:
            InexactError: the root is irrational.
        """
        root = exact_root(self.divided_by(row))
        return tuple(y / root for y in self.deviations(row))

    def read_between(self, row: Row, column: Row) -> tuple[Fraction, Fraction]:
        """Enclosure of the inner product of LN(row) and a readout column."""
        low, high = root_bounds(self.divided_by(row))
        deviations = zip(self.deviations(row), self.scale, column, strict=True)
        linear = sum((y * scale * u for y, scale, u in deviations), Fraction(0))
        fixed = sum((b * u for b, u in zip(self.shift, column, strict=True)), Fraction(0))
        return min(linear / low, linear / high) + fixed, max(linear / low, linear / high) + fixed

    def of(self, stream: Matrix) -> Matrix:
        """LN of every row of a stream of shape (n, width)."""
        return Matrix.from_rows(
            [
                [
                    scale * hat + shift
                    for scale, hat, shift in zip(
                        self.scale, self.normalised(row), self.shift, strict=True
                    )
                ]
                for row in stream.rows()
            ]
        )

    def as_json(self) -> dict[str, Json]:
        """All three, exactly."""
        return {
            "scale": [str(x) for x in self.scale],
            "shift": [str(x) for x in self.shift],
            "eps": str(self.eps),
        }


def plain_norm(width: int, eps: Fraction) -> LayerNorm:
    """LayerNorm with scale 1 and shift 0."""
    return LayerNorm(scale=(Fraction(1),) * width, shift=(Fraction(0),) * width, eps=eps)


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """One attention head on rows of width m: query and key (m, d), mix (m, m)."""

    query: Matrix
    key: Matrix
    mix: Matrix


def heads_of(model: Target | Universal) -> tuple[tuple[Head, ...], ...]:
    """The heads of a model without normalisation, [layer][head]; mix is W_V W_O, or R_V."""
    if isinstance(model, Target):
        maps = zip(model.queries, model.keys, model.mixes(), strict=True)
        return tuple(
            tuple(Head(query=q, key=k, mix=m) for q, k, m in zip(*layer, strict=True))
            for layer in maps
        )
    return tuple(
        tuple(
            Head(query=q.dense(), key=k.dense(), mix=v.dense())
            for q, k, v in zip(*layer, strict=True)
        )
        for layer in zip(model.queries, model.keys, model.values, strict=True)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PostNorm:
    """A post-LayerNorm transformer; `readout` is U of shape (m, d_in), the identity in targets."""

    layers: tuple[tuple[Head, ...], ...]
    norms: tuple[LayerNorm, ...]
    residual: bool
    readout: Matrix

    def __post_init__(self) -> None:
        """Refuse anything but one normalisation of the readout's height per layer."""
        widths = [norm.width for norm in self.norms]
        if not self.layers or widths != [self.readout.height] * len(self.layers):
            raise ShapeError(
                f"PostNorm.norms must be {len(self.layers)} normalisations of width "
                f"{self.readout.height}, got widths {widths}"
            )

    def sublayer(self, layer: int, stream: Matrix, normalise: Normaliser) -> Matrix:
        """S of a layer, counted from 0, on a stream of shape (n, m)."""
        mixed = Matrix.zero(*stream.shape)
        for head in self.layers[layer]:
            logits = (stream @ head.query) @ (stream @ head.key).transposed
            mixed += normalise(logits) @ (stream @ head.mix)
        return stream + mixed if self.residual else mixed

    def streams(self, inputs: Matrix, normalise: Normaliser) -> tuple[Matrix, ...]:
        """X^0 .. X^L from inputs of shape (n, m).

        Raises:
            InexactError: a root is irrational.
        """
        found = [inputs]
        for layer, norm in enumerate(self.norms):
            found.append(norm.of(self.sublayer(layer, found[-1], normalise)))
        return tuple(found)

    def output(self, inputs: Matrix, normalise: Normaliser) -> Matrix:
        """X^L U, shape (n, d_in)."""
        return self.streams(inputs, normalise)[-1] @ self.readout

    def as_json(self) -> dict[str, Json]:
        """All parameters, exactly."""
        return {
            "layers": [
                [{"query": texts(h.query), "key": texts(h.key), "mix": texts(h.mix)} for h in layer]
                for layer in self.layers
            ],
            "norms": [norm.as_json() for norm in self.norms],
            "residual": self.residual,
            "readout": texts(self.readout),
        }


def texts(matrix: Matrix) -> list[list[str]]:
    """A matrix as certificates write it."""
    return [[str(x) for x in row] for row in matrix.rows()]
